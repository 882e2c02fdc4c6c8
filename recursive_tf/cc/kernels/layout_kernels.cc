// A memory layout is planned for recorded runs, to say what it would bring.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/batching/launch_reads.h"
#include "recursive_tf/cc/kernels/recorded_launch_tensors.h"
#include "recursive_tf/cc/layout/run_layout.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

class PlanLayoutOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    ctx->SetStatus(CatchExceptions([&] { return Plan(ctx); }));
  }

 private:
  static absl::Status Plan(tf::OpKernelContext* ctx) {
    std::vector<std::vector<RecordedLaunch>> runs;
    TF_RETURN_IF_ERROR(GetRecordedLaunches(ctx, &runs));
    tf::Tensor bytes(tf::DT_INT64, {static_cast<int64_t>(runs.size()), 2, 3});
    auto all = bytes.tensor<int64_t, 3>();
    for (size_t run = 0; run < runs.size(); ++run) {
      const RunLayout layout = PlanRun(runs[run]);
      int kind = 0;
      for (const ReadBytes& read : {layout.of_functions, layout.of_programs}) {
        all(run, kind, 0) = read.all;
        all(run, kind, 1) = read.in_order;
        all(run, kind, 2) = read.in_order_planned;
        ++kind;
      }
    }
    ctx->set_output(0, bytes);
    return absl::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursivePlanLayout").Device(tf::DEVICE_CPU),
                        PlanLayoutOp);

}  // namespace
}  // namespace recursive_tf
