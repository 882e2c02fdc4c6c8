#ifndef RECURSIVE_TF_CC_BATCHING_LOCK_STEP_H_
#define RECURSIVE_TF_CC_BATCHING_LOCK_STEP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/activations.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/calls.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/launch_recorder.h"
#include "recursive_tf/cc/batching/lists.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/schedule.h"
#include "recursive_tf/cc/batching/steps.h"
#include "recursive_tf/cc/batching/wait_cycle.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

// The steps of any plan: follows each activation from block to block. What
// comes between two launches is in calls.h.
//
// Time and memory are linear in the number of activations and their slots.
class LockStep : public Steps {
 public:
  // All pointers must outlive this.
  LockStep(const Plan* plan, const BlockOrder* order, const Policy* policy,
           Host* host, ActivationLimits limits)
      : plan_(*plan),
        host_(host),
        activations_(plan),
        calls_(plan, host, limits, &activations_),
        schedule_(order, policy, plan->num_blocks) {}

  // From now on the run is recorded as a launch graph. Before Start; the
  // recorder must outlive this.
  void set_recorder(LaunchRecorder* recorder) {
    recorder_ = recorder;
    calls_.set_recorder(recorder);
  }

  void Start(int32_t num_rows) override;
  bool Next(Launch* launch) override;
  void set_num_bytes(int64_t num_bytes) override {
    calls_.set_num_bytes(num_bytes);
  }
  void Complete(const Launch& launch) override;
  const std::vector<int32_t>& TakeDeadValues() override;
  std::vector<Rows> Results() const override { return calls_.Results(); }

  const std::optional<RefusedCall>& refused_call() const override;
  const std::optional<int32_t>& refused_push() const override;
  bool is_cancelled() const override { return calls_.is_cancelled(); }
  std::optional<WaitCycle> FindCycle() const override;

  std::vector<PathStep> StepsOf(int32_t id) const override;
  std::vector<PathStep> StepsOfCallee(int32_t caller,
                                      PathStep callee) const override;
  int32_t SubGraphOf(int32_t id) const override;
  ValueRow DecidedBy(int32_t id) const override;

  int32_t num_values() const override { return activations_.num_values(); }
  int64_t num_alive() const override {
    return activations_.table().num_alive();
  }
  int64_t max_alive() const override {
    return activations_.table().max_alive();
  }
  int64_t num_bytes() const override {
    return activations_.table().num_bytes();
  }
  const Lists& lists() const { return activations_.lists(); }

 private:
  // Lets all that may go on wait for their next blocks.
  void WaitForBlocks();

  // Sets an input of a launch to a row of each activation, or to several that
  // are joined.
  void FindRows(const StageInput& input,
                const std::vector<int32_t>& activations, JoinedRows* joined);

  // Sets an input of a launch to the items of a list of each activation.
  void FindItems(const PlannedList& list, size_t input, Launch* launch);

  // Says of a list, if the stage's block gives it, where its counts are.
  void FindCounts(const PlannedList& list, const Stage& stage, Launch* launch);

  // Gives each activation its items of what a launch computed.
  void PutLists(const Launch& launch, const Stage& stage);

  // Finds which outputs have a row for each activation that anybody reads.
  void FindReadOutputs(const Launch& launch, const Stage& stage);

  const Plan& plan_;
  Host* const host_;
  Activations activations_;
  Calls calls_;
  Schedule schedule_;
  LaunchRecorder* recorder_ = nullptr;
  // Of the launch that completes.
  std::vector<int32_t> read_outputs_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LOCK_STEP_H_
