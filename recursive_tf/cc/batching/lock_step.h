#ifndef RECURSIVE_TF_CC_BATCHING_LOCK_STEP_H_
#define RECURSIVE_TF_CC_BATCHING_LOCK_STEP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/activations.h"
#include "recursive_tf/cc/batching/batched_path.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/calls.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/lists.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/schedule.h"
#include "recursive_tf/cc/batching/shared_rows.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/path.h"

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
  LockStep(const Plan* plan, const BlockOrder* order, Policy* policy,
           Host* host, ActivationLimits limits)
      : plan_(*plan),
        host_(host),
        activations_(plan),
        calls_(plan, host, limits, &activations_),
        schedule_(order, policy, plan->num_blocks) {}
  LockStep(const LockStep&) = delete;
  LockStep& operator=(const LockStep&) = delete;

  // Invokes the first procedure once for each row of the root call. Values from
  // 0 on are the outputs of the prologue, then the arguments of the root call.
  void Start(int32_t num_rows) {
    activations_.AddValues(plan_.num_prologue_outputs);
    for (int32_t i = 0; i < plan_.num_prologue_outputs; ++i) {
      activations_.Keep({i, 0});
    }
    const int32_t num_arguments = plan_.procedures.front().num_arguments;
    const int32_t first = activations_.AddValues(num_arguments);
    calls_.Start(num_rows, first);
    activations_.FindUnread(first, num_arguments);
    Settle();
  }

  // Sets `*launch` to what has to run next. Returns false when all is done, or
  // when a call or a push was refused or the run cancelled.
  bool Next(Launch* launch) {
    if (calls_.is_refused() || schedule_.empty()) return false;
    launch->block = schedule_.TakeNext(&launch->activations);
    const int32_t front = launch->activations.front();
    const Stage& stage = activations_.StageOf(front);
    const PlannedProcedure& procedure = activations_.ProcedureOf(front);
    launch->inputs.clear();
    launch->list_inputs.clear();
    launch->list_outputs.clear();
    for (const StageInput& input : stage.inputs) {
      launch->inputs.emplace_back();
      if (const PlannedList* list = procedure.ListAt(input.front())) {
        AddItems(*list, launch);
      } else {
        AddRows(input, launch);
      }
    }
    launch->first_value = activations_.AddValues(stage.num_outputs);
    for (const PlannedList& list : procedure.lists) {
      FindCounts(list, stage, launch);
    }
    return true;
  }

  // Says how many bytes all values hold by now, for the limit.
  void set_num_bytes(int64_t num_bytes) { calls_.set_num_bytes(num_bytes); }

  // Says that the values of `launch` are there. What waited for it goes on.
  void Complete(const Launch& launch) {
    const Stage& stage = activations_.StageOf(launch.activations.front());
    PutLists(launch, stage);
    FindReadOutputs(launch, stage);
    activations_.FindUnread(launch.first_value, stage.num_outputs);
    // One pass: there may be more activations than a cache holds.
    for (int32_t i = 0; i < launch.num_rows() && !calls_.is_refused(); ++i) {
      activations_.table().PrefetchParentAfter(launch.activations, i);
      const int32_t id = launch.activations[i];
      for (const int32_t k : read_outputs_) {
        activations_.PutExpected(id, stage.first_output + k,
                                 {launch.first_value + k, i});
      }
      Progress& progress = activations_[id].progress;
      progress = schedule_.After(progress, launch.block);
      calls_.Continue(id);
    }
    Settle();
  }

  // Returns the values whose memory may go, each once. Results live on.
  std::vector<int32_t> TakeDeadValues() {
    return activations_.TakeDeadValues();
  }

  // Returns where each result of the root call is, row by row.
  // REQUIRES: all is done.
  std::vector<Rows> Results() const { return calls_.Results(); }

  // Returns which call was one too many, if one was.
  const std::optional<Calls::Refusal>& refused_call() const {
    return calls_.refused_call();
  }

  // Returns whose push the host refused, if it did.
  const std::optional<int32_t>& refused_push() const {
    return calls_.refused_push();
  }

  // Returns whether the host said between two launches that the run is
  // cancelled.
  bool is_cancelled() const { return calls_.is_cancelled(); }

  // Returns a front that waits for itself, and for which key, if nothing can go
  // on. REQUIRES: there is no next launch, and nothing was refused.
  std::optional<SharedRows::Wait> FindCycle() const {
    return calls_.FindCycle();
  }

  // Returns the invocation path of an activation in flight, as FormatPath does.
  std::string PathOf(int32_t id, bool mapped,
                     const std::vector<std::string>& names) const {
    return FormatPath(StepsOfPath(plan_, activations_, id), mapped, names);
  }

  // Returns the path that a refused call would have had.
  std::string PathOf(const Calls::Refusal& refused, bool mapped,
                     const std::vector<std::string>& names) const {
    std::vector<PathStep> steps =
        StepsOfPath(plan_, activations_, refused.caller);
    steps.push_back({refused.procedure, refused.site, refused.row});
    return FormatPath(steps, mapped, names);
  }

  // Returns the SubGraph whose body an activation in flight is in.
  int32_t SubGraphOf(int32_t id) const {
    return recursive_tf::SubGraphOf(plan_, activations_, id);
  }

  // Returns which value decided last that an activation in flight gets where it
  // is; none if nothing had to.
  ValueRow DecidedBy(int32_t id) const {
    return activations_.table()[id].decided_by;
  }

  const ActivationTable& activations() const { return activations_.table(); }
  const Lists& lists() const { return activations_.lists(); }
  int32_t num_values() const { return activations_.num_values(); }

 private:
  // Lets all that may go on wait for their next blocks.
  void Settle() {
    calls_.Settle([this](int32_t id, int32_t block) {
      schedule_.Add(id, activations_[id].progress, block);
    });
  }

  // Adds a row of each activation, or several that are joined, to the last
  // input of a launch.
  void AddRows(const StageInput& input, Launch* launch) {
    JoinedRows& joined = launch->inputs.back();
    for (const Source& source : input) {
      Rows& rows = joined.emplace_back();
      rows.Reserve(launch->activations.size());
      for (const int32_t id : launch->activations) {
        rows.Add(activations_.Find(id, source));
      }
    }
  }

  // Adds the items of a list of each activation to the last input of a launch.
  void AddItems(const PlannedList& list, Launch* launch) {
    const auto input = static_cast<int32_t>(launch->inputs.size()) - 1;
    Rows& rows = launch->inputs.back().emplace_back();
    ListInput& added = launch->list_inputs.emplace_back();
    added.input = input;
    added.no_items = list.no_items;
    for (const int32_t id : launch->activations) {
      const std::vector<ValueRow>& items =
          activations_.Items(activations_.Find(id, Source::Slot(list.slot)));
      for (const ValueRow item : items) rows.Add(item);
      added.counts.push_back(static_cast<int32_t>(items.size()));
    }
  }

  // Says of a list, if the stage's block gives it, where its counts are.
  void FindCounts(const PlannedList& list, const Stage& stage, Launch* launch) {
    const auto output_at = [&stage](int32_t slot) {
      const int32_t output = slot - stage.first_output;
      return output >= 0 && output < stage.num_outputs ? output : -1;
    };
    const int32_t output = output_at(list.slot);
    if (output < 0) return;
    ListOutput& added = launch->list_outputs.emplace_back();
    added.output = output;
    const int32_t counts = output_at(list.count.slot);
    for (int32_t i = 0; i < launch->num_rows(); ++i) {
      added.counts.push_back(
          counts < 0 ? activations_.Find(launch->activations[i], list.count)
                     : ValueRow{launch->first_value + counts, i});
    }
  }

  // Gives each activation its items of what a launch computed.
  void PutLists(const Launch& launch, const Stage& stage) {
    for (const ListOutput& made : launch.list_outputs) {
      const int32_t slot = stage.first_output + made.output;
      if (!activations_.IsRead(launch.activations.front(), slot)) continue;
      int32_t row = 0;
      for (int32_t i = 0; i < launch.num_rows(); ++i) {
        const int32_t count = host_->ReadCount(made.counts[i]);
        activations_.PutRows(launch.activations[i], slot,
                             {launch.first_value + made.output, row}, count);
        row += count;
      }
    }
  }

  // Finds which outputs have a row for each activation that anybody reads.
  void FindReadOutputs(const Launch& launch, const Stage& stage) {
    read_outputs_.clear();
    for (int32_t k = 0; k < stage.num_outputs; ++k) {
      const int32_t slot = stage.first_output + k;
      if (!activations_.IsRead(launch.activations.front(), slot)) continue;
      if (launch.IsListOutput(k)) continue;
      activations_.Expect(launch.first_value + k, launch.num_rows());
      read_outputs_.push_back(k);
    }
  }

  const Plan& plan_;
  Host* const host_;
  Activations activations_;
  Calls calls_;
  Schedule schedule_;
  // Of the launch that completes.
  std::vector<int32_t> read_outputs_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LOCK_STEP_H_
