#ifndef RECURSIVE_TF_CC_BATCHING_CALLS_H_
#define RECURSIVE_TF_CC_BATCHING_CALLS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/activations.h"
#include "recursive_tf/cc/batching/admission.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/in_place.h"
#include "recursive_tf/cc/batching/launch_recorder.h"
#include "recursive_tf/cc/batching/pass_through.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/shared_rows.h"
#include "recursive_tf/cc/batching/steps.h"
#include "recursive_tf/cc/batching/wait_cycle.h"
#include "recursive_tf/cc/runtime/activation_tree.h"

namespace recursive_tf {

// Follows calls and returns: takes each activation from one stage to the next,
// to what it calls, and back to who called it, until it waits for a block or is
// done. Who launches blocks then says that it goes on.
//
// An activation goes to a branch that runs in place, to the next turn of a
// loop, or to what it shares, and stays what it is; every other call makes an
// activation of its own. The rows of the root call have none, if all that they
// do is one call: then its caller is no activation, and its row is theirs.
//
// What runs for each activation stands here, in a header of over 400 lines, so
// that it is inlined into what LockStep does for all of a launch: apart, it
// took 4% longer.
//
// No recursion: a chain of calls may be as long as memory. A loop that launches
// nothing may turn forever, unless the host says that the run is cancelled; it
// takes no memory for it.
class Calls {
 public:
  // All pointers must outlive this.
  Calls(const Plan* plan, Host* host, ActivationLimits limits,
        Activations* activations)
      : plan_(*plan),
        host_(host),
        admission_(limits),
        in_place_(activations->in_place()),
        pass_through_(*plan),
        activations_(*activations) {}
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // Makes the call of each row of the root call, whose arguments are the values
  // from `first_argument` on.
  void Start(int32_t num_rows, int32_t first_argument);

  // From now on a recorder is told who waits for whom. It must outlive this.
  void set_recorder(LaunchRecorder* recorder) { recorder_ = recorder; }

  // Says how many bytes the values of all activations hold by now.
  void set_num_bytes(int64_t num_bytes) { admission_.set_num_bytes(num_bytes); }

  // Does what comes after the block of the stage that an activation is in.
  void Continue(int32_t id) {
    const int32_t stage_index = activations_[id].stage;
    const Stage& stage = activations_.StageOf(id);
    if (!PushRows(stage, id)) return;
    int32_t num_made = 0;
    for (const CallSite& call : stage.calls) {
      const Branch& branch = call.branches[BranchOf(call, id)];
      if (stage.calls.size() == 1) {
        if (call.key.has_value()) return Share(call, *call.key, id);
        if (in_place_.RunsInPlace(branch.procedure)) {
          Decide(call.selector, id, id);
          if (!pass_through_.Has(branch.procedure)) return GoTo(branch, id);
        }
      }
      num_made += Make(call, branch, id);
    }
    if (is_refused()) return;
    activations_.EndReads(id, stage_index);
    activations_[id].num_pending = num_made;
    if (num_made == 0) EndStage(id);
  }

  // Takes every activation that may go on to its next block, which is handed
  // over: `wait(id, block)`.
  template <typename Wait>
  void TakeToBlocks(const Wait& wait) {
    TakeEntered(wait);
    while (!resumed_.empty() && !is_refused()) {
      for (const int32_t id : std::exchange(resumed_, {})) EndStage(id);
      TakeEntered(wait);
    }
  }

  // Returns where each result of the root call is, row by row.
  // REQUIRES: all is done.
  std::vector<Rows> Results() const;

  // Returns whether a call or a push was refused, or the run was cancelled,
  // which ends it.
  bool is_refused() const {
    return refused_call_.has_value() || refused_push_.has_value() ||
           is_cancelled_;
  }

  // Returns whether the run was cancelled between two launches.
  bool is_cancelled() const { return is_cancelled_; }

  // Returns which call was one too many, if one was.
  const std::optional<RefusedCall>& refused_call() const {
    return refused_call_;
  }

  // Returns whose push the host refused, if it did.
  const std::optional<int32_t>& refused_push() const { return refused_push_; }

  // Returns calls that wait for themselves, if activations are left. REQUIRES:
  // none of them waits for a block, and none was refused.
  std::optional<WaitCycle> FindCycle() const;

 private:
  // Returns the depth of who makes a call of a procedure. Where it is no
  // activation, that is the row of the root call, unless the call starts it.
  int32_t DepthOfCaller(int32_t caller, int32_t procedure) const {
    if (caller != kNoActivation) return activations_[caller].call_depth;
    return procedure == kRootProcedure ? 0 : 1;
  }

  // Makes an activation, which has yet to go somewhere. Returns its id, or none
  // if a limit is reached.
  int32_t Enter(int32_t procedure, int32_t parent, int32_t site, int32_t row) {
    const bool is_branch = plan_.procedures[procedure].is_branch;
    const int32_t depth =
        DepthOfCaller(parent, procedure) + (is_branch ? 0 : 1);
    const ActivationTree::Verdict verdict =
        is_branch ? ActivationTree::Verdict::kEntered
                  : admission_.Judge(depth, activations_.table().num_bytes());
    if (verdict != ActivationTree::Verdict::kEntered) {
      refused_call_ = RefusedCall{verdict, parent, site, procedure, row};
      return kNoActivation;
    }
    if (!is_branch) admission_.Enter();
    const int32_t id = activations_.table().Add(procedure);
    BatchedActivation& activation = activations_[id];
    activation.parent = parent;
    activation.site = site;
    activation.row = row;
    activation.call_depth = depth;
    if (parent != kNoActivation) {
      activation.progress = activations_[parent].progress;
      activation.decided_by = activations_[parent].decided_by;
    }
    if (recorder_ != nullptr) recorder_->Begin(id, parent);
    return id;
  }

  // Takes on those that entered a procedure or a stage, in the order in which
  // they did, round after round: what one of them enters is in the next.
  template <typename Wait>
  void TakeEntered(const Wait& wait) {
    CancellationCheck check(host_);
    while (!entered_.empty()) {
      if (check.IsCancelledAfter(entered_.size())) is_cancelled_ = true;
      std::swap(taken_, entered_);
      TakeRound(wait);
      taken_.clear();
      if (is_refused()) entered_.clear();
    }
  }

  template <typename Wait>
  void TakeRound(const Wait& wait) {
    for (size_t i = 0; i < taken_.size() && !is_refused(); ++i) {
      const int32_t id = taken_[i];
      activations_.table().PrefetchParentAfter(taken_, i);
      if (activations_.ProcedureOf(id).stages.empty()) {
        EndStage(id);
      } else if (const int32_t block = activations_.StageOf(id).block;
                 block == kNoBlock) {
        Continue(id);
      } else {
        wait(id, block);
      }
    }
  }

  // Returns whether the host took all that a stage pushes.
  bool PushRows(const Stage& stage, int32_t id) {
    for (const PlannedPush& push : stage.pushes) {
      const ValueRow index = activations_.Find(id, push.index);
      const ValueRow value = activations_.Find(id, push.value);
      if (host_->Push(push.table, &index, &value, /*count=*/1) == 1) continue;
      refused_push_ = id;
      return false;
    }
    return true;
  }

  // Where an activation goes. GoTo, GoOn and GoBack leave it what it is.
  //
  //          +- the next stage; GoOn: the next turn of a loop -+
  //          v                                                 |
  // Enter -> entered_ -> block -> Continue -> calls return -> EndStage -> Leave
  //          ^                       |                         ^    |
  //          +---- GoTo: a branch ---+                         +----+
  //               in place                            GoBack: the end of it

  // Takes an activation to a branch that runs in place.
  void GoTo(const Branch& branch, int32_t id) {
    BatchedActivation& activation = activations_[id];
    const int32_t num_slots = plan_.procedures[activation.procedure].num_slots;
    for (size_t i = 0; i < branch.arguments.size(); ++i) {
      activations_.PutAt(id, num_slots, branch.procedure,
                         static_cast<int32_t>(i),
                         activations_.Find(id, branch.arguments[i]));
    }
    activations_.EndReads(id, activation.stage);
    GoInto(branch, id);
  }

  // The same, of one that has its arguments.
  void GoInto(const Branch& branch, int32_t id) {
    BatchedActivation& activation = activations_[id];
    activation.first_slot += plan_.procedures[activation.procedure].num_slots;
    activation.procedure = branch.procedure;
    activation.stage = 0;
    entered_.push_back(id);
  }

  // Takes a front to what it shares, if nobody asked for that before; or gives
  // it what came of that, now or when it has ended.
  void Share(const CallSite& call, Source number, int32_t id);

  // Makes a call of a front that only asks: what it shares, if nobody asked for
  // that before, runs in place in an activation of the front. Returns whether
  // it is to return.
  bool MakeShared(const ResultSlots& to, const CallSite& call,
                  const Branch& branch, const std::optional<Source>& selector);

  // Gives a call what another activation shares, if that has ended; or else
  // lets it wait. Returns whether it is to return.
  bool AskFor(int32_t shared, const SharedRows::Asker& asker);

  void TakeShared(int32_t shared, const ResultSlots& to);

  // Gives what a front shares, which ran in place, to all that wait for it.
  void EndShared(int32_t id, const InPlace::Home& home, size_t num_results);

  // Takes an activation from a branch that ran in place back to where it was.
  void GoBack(int32_t id) {
    const int32_t procedure = activations_[id].procedure;
    const InPlace::Home& home = in_place_.HomeOf(procedure);
    const std::vector<Source>& outputs = plan_.procedures[procedure].outputs;
    GoOut(id, outputs, home.procedure, home.first_result);
    activations_[id].stage = home.stage;
    if (home.is_shared) EndShared(id, home, outputs.size());
  }

  // Takes an activation from the turn of a loop that ran in place to the next.
  void GoOn(const Branch& loop, int32_t id) {
    GoOut(id, loop.arguments, loop.procedure, /*first_slot=*/0);
    activations_[id].stage = 0;
    entered_.push_back(id);
  }

  // Takes an activation from the end of a branch that ran in place to the
  // procedure around it, whose slots from `first_slot` on get `sources`.
  void GoOut(int32_t id, const std::vector<Source>& sources, int32_t around,
             int32_t first_slot) {
    BatchedActivation& activation = activations_[id];
    const std::vector<Stage>& stages =
        plan_.procedures[activation.procedure].stages;
    const int32_t num_slots = plan_.procedures[around].num_slots;
    for (size_t i = 0; i < sources.size(); ++i) {
      activations_.PutAt(id, -num_slots, around,
                         first_slot + static_cast<int32_t>(i),
                         activations_.Find(id, sources[i]));
    }
    activations_.EndReads(id, static_cast<int32_t>(stages.size()));
    activation.procedure = around;
    activation.first_slot -= num_slots;
  }

  // Makes a call, or those of a map. Returns how many are to return, unless one
  // is refused.
  int32_t Make(const CallSite& call, const Branch& branch, int32_t caller) {
    if (is_refused()) return 0;
    if (call.num_mapped > 0) return MakeForItems(call, branch, caller);
    const ResultSlots to{caller, call.first_result, /*row=*/0};
    const PassThrough::Procedure& passed = pass_through_[branch.procedure];
    switch (passed.kind) {
      case PassThrough::Kind::kReturns:
        PutResults(to, passed.results);
        return 0;
      case PassThrough::Kind::kCalls:
        return MakeOne(to, *passed.call, passed.callee, call.selector) ? 1 : 0;
      default:
        return MakeOne(to, call, branch, call.selector) ? 1 : 0;
    }
  }

  // Gives a call what its branch only hands on.
  void PutResults(const ResultSlots& to, const std::vector<Source>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      PutResult(to, i, activations_.Find(to.caller, results[i]));
    }
  }

  // Gives a call one of its results. The root call returns those of its rows'
  // calls, or nothing.
  void PutResult(const ResultSlots& to, size_t index, ValueRow row) {
    if (to.caller != kNoActivation) {
      return activations_.PutResult(
          to.caller, to.first_result + static_cast<int32_t>(index), to.row,
          row);
    }
    const size_t num_results = plan_.procedures[kRootProcedure].outputs.size();
    if (num_results == 0) return;
    activations_.Keep(row);
    results_[to.row * num_results + index] = row;
  }

  // Makes a call, or that for an item of a map. Returns whether it is to
  // return.
  bool MakeOne(const ResultSlots& to, const CallSite& call,
               const Branch& branch, const std::optional<Source>& selector) {
    if (pass_through_[branch.procedure].kind == PassThrough::Kind::kAsks) {
      return MakeShared(to, call, branch, selector);
    }
    const int32_t id = EnterFor(to, call, branch, selector);
    if (id == kNoActivation) return false;
    for (size_t i = 0; i < branch.arguments.size(); ++i) {
      activations_.Put(id, static_cast<int32_t>(i),
                       ArgumentFor(to, call, branch, i));
    }
    entered_.push_back(id);
    return true;
  }

  // Makes an activation for a call, without arguments. Returns its id, or none
  // if a limit is reached.
  int32_t EnterFor(const ResultSlots& to, const CallSite& call,
                   const Branch& branch,
                   const std::optional<Source>& selector) {
    const int32_t id = Enter(branch.procedure, to.caller, call.site, to.row);
    if (id == kNoActivation) return id;
    Decide(selector, to.caller, id);
    activations_[id].first_result = to.first_result;
    return id;
  }

  // Returns an argument of a call; of a mapped one, the item.
  ValueRow ArgumentFor(const ResultSlots& to, const CallSite& call,
                       const Branch& branch, size_t index) {
    const Source source = branch.arguments[index];
    if (to.caller == kNoActivation && !source.of_prologue()) {
      return {first_argument_ + source.slot, to.row};
    }
    const ValueRow argument = activations_.Find(to.caller, source);
    const bool is_mapped = static_cast<int32_t>(index) < call.num_mapped;
    return is_mapped ? activations_.Items(argument)[to.row] : argument;
  }

  int32_t MakeForItems(const CallSite& call, const Branch& branch,
                       int32_t caller);

  size_t BranchOf(const CallSite& call, int32_t caller) {
    if (!call.selector.has_value()) return 0;
    const int64_t chosen =
        host_->SelectorAt(activations_.Find(caller, *call.selector));
    return CallSite::BranchFor(chosen, call.branches.size());
  }

  // Says that a selector, if there was one, sent an activation to where it is.
  // What was known before that stays: a value is launched after all that its
  // activation had to wait for.
  void Decide(const std::optional<Source>& selector, int32_t caller,
              int32_t id) {
    if (!selector.has_value()) return;
    const ValueRow row = activations_.Find(caller, *selector);
    ValueRow& decided_by = activations_[id].decided_by;
    if (row.value > decided_by.value) decided_by = row;
  }

  // Goes to the next stage, if there is one, or back to the caller, and on from
  // there.
  void EndStage(int32_t id) {
    while (true) {
      BatchedActivation& activation = activations_[id];
      const PlannedProcedure& procedure =
          plan_.procedures[activation.procedure];
      if (++activation.stage < static_cast<int32_t>(procedure.stages.size())) {
        const Stage& stage = procedure.stages[activation.stage];
        if (stage.block != kNoBlock || !stage.calls.empty()) {
          entered_.push_back(id);
          return;
        }
        if (!PushRows(stage, id)) return;
        activations_.EndReads(id, activation.stage);
        continue;
      }
      if (procedure.goes_on.has_value()) return GoOn(*procedure.goes_on, id);
      if (in_place_.RunsInPlace(activation.procedure)) {
        GoBack(id);
        continue;
      }
      const int32_t caller = Leave(id);
      if (caller == kNoActivation) return;
      if (--activations_[caller].num_pending > 0) return;
      id = caller;
    }
  }

  // Ends an activation: gives its results to the caller, which is returned.
  int32_t Leave(int32_t id) {
    const BatchedActivation& activation = activations_[id];
    const ResultSlots to{activation.parent, activation.first_result,
                         activation.row};
    const PlannedProcedure& procedure = plan_.procedures[activation.procedure];
    for (size_t i = 0; i < procedure.outputs.size(); ++i) {
      PutResult(to, i, activations_.Find(id, procedure.outputs[i]));
    }
    if (to.caller != kNoActivation) {
      Progress& progress = activations_[to.caller].progress;
      progress = std::max(progress, activation.progress);
      if (recorder_ != nullptr) recorder_->Join(to.caller, recorder_->last(id));
    }
    activations_.EndReads(id, static_cast<int32_t>(procedure.stages.size()));
    activations_.table().Remove(id);
    if (!procedure.is_branch) admission_.Leave();
    return to.caller;
  }

  const Plan& plan_;
  Host* const host_;
  Admission admission_;

  const InPlace& in_place_;
  const PassThrough pass_through_;
  Activations& activations_;
  SharedRows shared_;
  // Of what ends: no memory is taken for them each time.
  std::vector<ValueRow> results_to_share_;
  // Activations that have yet to be taken to their next block, and those of
  // them whose turn it is.
  std::vector<int32_t> entered_;
  std::vector<int32_t> taken_;
  // Activations whose calls all got what they waited for.
  std::vector<int32_t> resumed_;
  // Of the root call: its first argument, and its results, row by row.
  int32_t first_argument_ = 0;
  std::vector<ValueRow> results_;
  std::optional<RefusedCall> refused_call_;
  std::optional<int32_t> refused_push_;
  bool is_cancelled_ = false;
  // If the run is recorded.
  LaunchRecorder* recorder_ = nullptr;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_CALLS_H_
