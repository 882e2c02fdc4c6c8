#ifndef RECURSIVE_TF_CC_TF_TEAM_KERNEL_H_
#define RECURSIVE_TF_CC_TF_TEAM_KERNEL_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "recursive_tf/cc/scheduling/op_times.h"
#include "recursive_tf/cc/scheduling/teams.h"
#include "tensorflow/core/framework/node_properties.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// Levels of operations are below this.
constexpr int64_t kMostLevels = 64;

// An operation that teams run.
struct TeamWork {
  tensorflow::OpKernel* kernel = nullptr;
  OpTimes* times = nullptr;
  // What comes first has the highest.
  int64_t level = 0;
  // Whether it is on the longest path of its graph.
  bool is_critical = false;
  // Whether the graph runs in a DeepFrame, the deepest of which come first.
  bool is_in_calls = false;
};

// Stands in an executor's graph for a kernel, and has a team run it, or, if it
// may wait for something, a thread of its own. To the executor it is a kernel
// that ends some time later, so that all that the executor does else, e.g. of
// loops and errors, stays as it is.
class TeamKernel : public tensorflow::AsyncOpKernel {
 public:
  // `teams` and what `work` points to must outlive the kernel. Without teams it
  // has a thread of its own.
  static absl::Status Create(
      const std::shared_ptr<const tensorflow::NodeProperties>& node,
      Teams* teams, const TeamWork& work, tensorflow::DeviceBase* device,
      std::unique_ptr<TeamKernel>* kernel);

  void ComputeAsync(tensorflow::OpKernelContext* ctx,
                    DoneCallback done) override;

  // Returns null to the kernel that it stands for: one that fails ends the
  // process if its op, which its context takes this for, is asynchronous.
  tensorflow::AsyncOpKernel* AsAsync() override;

 private:
  TeamKernel(tensorflow::OpKernelConstruction* ctx, Teams* teams,
             const TeamWork& work)
      : AsyncOpKernel(ctx), teams_(teams), work_(work) {}

  int64_t LevelIn(tensorflow::OpKernelContext* ctx) const;
  void Run(tensorflow::OpKernelContext* ctx) const;

  Teams* const teams_;
  const TeamWork work_;
};

// Says whether `kernel`, which is not asynchronous, only computes: it calls
// nothing, and has no state but variables and generators of random numbers.
// Only such a kernel may hold a team's leader, for it waits for nothing.
bool OnlyComputes(tensorflow::OpKernel* kernel);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_TEAM_KERNEL_H_
