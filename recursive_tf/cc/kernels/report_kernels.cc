// What root calls report: to whoever watches their program, and to a trace.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/report_board.h"
#include "recursive_tf/cc/batching/run_report.h"
#include "recursive_tf/cc/blocks/product_peak.h"
#include "recursive_tf/cc/kernels/vectors.h"
#include "recursive_tf/cc/runtime/trace_log.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/chosen_kernels.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

class WatchOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    std::string program;
    bool watch = false;
    OP_REQUIRES_OK(ctx, GetScalar<tf::tstring>(ctx, 0, &program));
    OP_REQUIRES_OK(ctx, GetScalar<bool>(ctx, 1, &watch));
    if (watch) {
      ReportBoard::Global().Watch(program);
    } else {
      ReportBoard::Global().Unwatch(program);
    }
  }
};

class ReportOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    std::string program;
    bool backward = false;
    OP_REQUIRES_OK(ctx, GetScalar<tf::tstring>(ctx, 0, &program));
    OP_REQUIRES_OK(ctx, GetScalar<bool>(ctx, 1, &backward));
    const auto pass =
        backward ? LastRuns::Pass::kBackward : LastRuns::Pass::kForward;
    const RunReport report =
        ReportBoard::Global().Read(program, pass).value_or(RunReport());
    ctx->set_output(0, VectorOf(report.launches));
    ctx->set_output(1, VectorOf(report.rows));
    ctx->set_output(
        2, VectorOf<double>({report.seconds_schedule, report.seconds_gather,
                             report.seconds_blocks, report.seconds_deferred}));
    ctx->set_output(3, VectorOf<int64_t>({report.bytes_moved, report.peak_bytes,
                                          report.least_launches.value_or(-1)}));
    ctx->set_output(4, VectorOf(report.compiled));
    ctx->set_output(5, VectorOf(report.reasons));
    ctx->set_output(6, VectorOf(report.shared));
    const auto num_blocks = static_cast<int64_t>(report.products.size());
    tf::Tensor seconds(tf::DT_DOUBLE, {num_blocks});
    tf::Tensor flops(tf::DT_INT64, {num_blocks, 2});
    for (int64_t i = 0; i < num_blocks; ++i) {
      const RunReport::Products& products = report.products[i];
      seconds.vec<double>()(i) = products.seconds;
      flops.matrix<int64_t>()(i, 0) = products.flops;
      flops.matrix<int64_t>()(i, 1) = products.flops_of_doubles;
    }
    ctx->set_output(7, seconds);
    ctx->set_output(8, flops);
  }
};

template <typename T>
class ProductPeakOp : public tf::OpKernel {
 public:
  explicit ProductPeakOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, CheckChosenSet());
  }

  void Compute(tf::OpKernelContext* ctx) override {
    const BatchedStep step(ctx);
    ctx->set_output(
        0, ScalarOf(MeasureProductPeak(ChosenKernels<T>(), &step.team())));
  }
};

class TraceOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    bool start = false;
    OP_REQUIRES_OK(ctx, GetScalar<bool>(ctx, 0, &start));
    std::vector<TraceEvent> events;
    if (start) {
      TraceLog::Global().Start();
    } else {
      events = TraceLog::Global().Stop();
    }
    const auto count = static_cast<int64_t>(events.size());
    tf::Tensor names(tf::DT_STRING, {count});
    tf::Tensor categories(tf::DT_STRING, {count});
    tf::Tensor times(tf::DT_INT64, {count, 5});
    for (int64_t i = 0; i < count; ++i) {
      const TraceEvent& event = events[i];
      names.vec<tf::tstring>()(i) = event.name;
      categories.vec<tf::tstring>()(i) = event.category;
      times.matrix<int64_t>()(i, 0) = event.start_ns;
      times.matrix<int64_t>()(i, 1) = event.duration_ns;
      times.matrix<int64_t>()(i, 2) = static_cast<int64_t>(event.thread);
      times.matrix<int64_t>()(i, 3) = event.num_rows;
      times.matrix<int64_t>()(i, 4) = event.team;
    }
    ctx->set_output(0, names);
    ctx->set_output(1, categories);
    ctx->set_output(2, times);
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursiveWatch").Device(tf::DEVICE_CPU), WatchOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveReport").Device(tf::DEVICE_CPU),
                        ReportOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveProductPeak")
                            .Device(tf::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        ProductPeakOp<float>);
REGISTER_KERNEL_BUILDER(Name("RecursiveProductPeak")
                            .Device(tf::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        ProductPeakOp<double>);
REGISTER_KERNEL_BUILDER(Name("RecursiveTrace").Device(tf::DEVICE_CPU), TraceOp);

}  // namespace
}  // namespace recursive_tf
