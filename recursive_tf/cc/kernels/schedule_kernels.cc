// Executors of teams: what makes them known to TensorFlow, and what they tell.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recursive_tf/cc/kernels/vectors.h"
#include "recursive_tf/cc/tf/scheduled_graph.h"
#include "recursive_tf/cc/tf/team_executor.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

class TeamExecutorOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    std::string name;
    OP_REQUIRES_OK(ctx, GetScalar<tf::tstring>(ctx, 0, &name));
    TeamSchedule schedule;
    OP_REQUIRES_OK(ctx, TeamSchedule::Parse(name, &schedule));
    RegisterTeamExecutor(schedule);
    ctx->set_output(0, ScalarOf<tf::tstring>(schedule.Name()));
  }
};

class MeasureOperationsOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    bool measured = false;
    OP_REQUIRES_OK(ctx, GetScalar<bool>(ctx, 0, &measured));
    ScheduledGraphs::Global().set_measured(measured);
  }
};

// All graphs of a schedule, one after the other.
struct Table {
  void Add(const ScheduledGraph& graph) {
    const auto number = static_cast<int64_t>(runs.size());
    runs.push_back(graph.num_runs);
    const std::vector<int64_t> medians = graph.MedianTimes();
    std::vector<int64_t> rows(medians.size(), -1);
    for (size_t i = 0; i < medians.size(); ++i) {
      if (graph.names[i].empty()) continue;
      rows[i] = static_cast<int64_t>(names.size());
      names.push_back(graph.names[i]);
      types.push_back(graph.types[i]);
      times.push_back(medians[i]);
      graphs.push_back(number);
    }
    for (const auto& [from, to] : graph.dependences.edges) {
      first.push_back(rows[from]);
      second.push_back(rows[to]);
    }
  }

  std::vector<std::string> names;
  std::vector<std::string> types;
  std::vector<int64_t> times;
  std::vector<int64_t> graphs;
  std::vector<int64_t> first;
  std::vector<int64_t> second;
  std::vector<int64_t> runs;
};

class ScheduledGraphsOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    std::string schedule;
    OP_REQUIRES_OK(ctx, GetScalar<tf::tstring>(ctx, 0, &schedule));
    Table table;
    for (const auto& graph : ScheduledGraphs::Global().All()) {
      if (graph->schedule == schedule) table.Add(*graph);
    }
    ctx->set_output(0, VectorOf(table.names));
    ctx->set_output(1, VectorOf(table.types));
    ctx->set_output(2, VectorOf(table.times));
    ctx->set_output(3, VectorOf(table.graphs));
    ctx->set_output(4, VectorOf(table.first));
    ctx->set_output(5, VectorOf(table.second));
    ctx->set_output(6, VectorOf(table.runs));
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursiveTeamExecutor").Device(tf::DEVICE_CPU),
                        TeamExecutorOp);
REGISTER_KERNEL_BUILDER(
    Name("RecursiveMeasureOperations").Device(tf::DEVICE_CPU),
    MeasureOperationsOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveScheduledGraphs").Device(tf::DEVICE_CPU),
                        ScheduledGraphsOp);

}  // namespace
}  // namespace recursive_tf
