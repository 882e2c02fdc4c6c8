#ifndef RECURSIVE_TF_CC_BATCHING_LOCK_STEP_H_
#define RECURSIVE_TF_CC_BATCHING_LOCK_STEP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
#include "recursive_tf/cc/batching/shared_rows.h"
#include "recursive_tf/cc/runtime/activation_tree.h"

namespace recursive_tf {

// Runs a plan with all activations in lock step: says which block to launch
// next and where its rows come from, and what becomes of its outputs. What
// comes between two launches is in calls.h. It never sees a tensor: a host
// reads and pushes rows for it.
//
//   LockStep steps(...);
//   steps.Start(num_rows);
//   Launch launch;
//   while (steps.Next(&launch)) {
//     ... compute the values of launch ...
//     steps.Complete(launch);
//   }
//
// Time and memory are linear in the number of activations and their slots.
class LockStep {
 public:
  // All pointers must outlive this.
  LockStep(const Plan* plan, const BlockOrder* order, const Policy* policy,
           Host* host, ActivationLimits limits)
      : plan_(*plan),
        host_(host),
        activations_(plan),
        calls_(plan, host, limits, &activations_),
        schedule_(order, policy, plan->num_blocks) {}
  LockStep(const LockStep&) = delete;
  LockStep& operator=(const LockStep&) = delete;

  // From now on the run is recorded as a launch graph. Before Start; the
  // recorder must outlive this.
  void set_recorder(LaunchRecorder* recorder) {
    recorder_ = recorder;
    calls_.set_recorder(recorder);
  }

  // Invokes the first procedure once for each row of the root call. Values from
  // 0 on are the outputs of the prologue, then the arguments of the root call.
  void Start(int32_t num_rows);

  // Sets `*launch` to what has to run next. Returns false when all is done, or
  // when a call or a push was refused or the run cancelled.
  bool Next(Launch* launch);

  // Says how many bytes all values hold by now, for the limit.
  void set_num_bytes(int64_t num_bytes) { calls_.set_num_bytes(num_bytes); }

  // Says that the values of `launch` are there. What waited for it goes on.
  void Complete(const Launch& launch);

  // Returns the values whose memory may go, each once, valid until it is called
  // again. Results live on.
  const std::vector<int32_t>& TakeDeadValues();

  // Returns where each result of the root call is, row by row.
  // REQUIRES: all is done.
  std::vector<Rows> Results() const { return calls_.Results(); }

  // Returns which call was one too many, if one was.
  const std::optional<Calls::Refusal>& refused_call() const;

  // Returns whose push the host refused, if it did.
  const std::optional<int32_t>& refused_push() const;

  // Returns whether the host said between two launches that the run is
  // cancelled.
  bool is_cancelled() const { return calls_.is_cancelled(); }

  // Returns calls that wait for themselves, if nothing can go on. REQUIRES:
  // there is no next launch, and nothing was refused.
  std::optional<SharedRows::Cycle> FindCycle() const;

  // Returns the invocation path of an activation in flight, as FormatPath does.
  std::string PathOf(int32_t id, bool mapped,
                     const std::vector<std::string>& names) const;

  // Returns the path that a refused call would have had.
  std::string PathOf(const Calls::Refusal& refused, bool mapped,
                     const std::vector<std::string>& names) const;

  // Returns the path of what a call in flight waits for.
  std::string PathOf(const SharedRows::Wait& wait, bool mapped,
                     const std::vector<std::string>& names) const;

  // Returns the SubGraph whose body an activation in flight is in.
  int32_t SubGraphOf(int32_t id) const;

  // Returns which value decided last that an activation in flight gets where it
  // is; none if nothing had to.
  ValueRow DecidedBy(int32_t id) const;

  const ActivationTable& activations() const { return activations_.table(); }
  const Lists& lists() const { return activations_.lists(); }
  int32_t num_values() const { return activations_.num_values(); }

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
