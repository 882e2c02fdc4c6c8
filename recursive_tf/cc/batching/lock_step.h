#ifndef RECURSIVE_TF_CC_BATCHING_LOCK_STEP_H_
#define RECURSIVE_TF_CC_BATCHING_LOCK_STEP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/batched_path.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frames.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/lists.h"
#include "recursive_tf/cc/batching/liveness.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/shared_rows.h"
#include "recursive_tf/cc/batching/value_readers.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/memo_key.h"

namespace recursive_tf {

// Runs a plan with all activations in lock step: says which block to launch
// next and where its rows come from, and follows calls and returns. It never
// sees a tensor: a host reads and pushes rows for it.
//
//   LockStep steps(...);
//   steps.Start(num_rows);
//   Launch launch;
//   while (steps.Next(&launch)) {
//     ... compute the values of launch ...
//     steps.Complete(launch);
//   }
//
// Time and memory are linear in the number of activations and their slots. No
// recursion: a chain of calls may be as long as memory.
class LockStep {
 public:
  struct Refusal {
    ActivationTree::Verdict verdict;
    // Who made the call that was one too many, where, and of what.
    int32_t caller;
    int32_t site;
    int32_t procedure;
    // Of the root call, if that is who made it, or of a map.
    int32_t row;
  };

  // All pointers must outlive this.
  LockStep(const Plan* plan, const BlockOrder* order, Policy* policy,
           Host* host, ActivationLimits limits)
      : plan_(*plan),
        order_(*order),
        policy_(policy),
        host_(host),
        limits_(limits),
        frames_(*plan),
        activations_(frames_.sizes()),
        frontier_(plan->num_blocks) {
    for (const PlannedProcedure& procedure : plan_.procedures) {
      liveness_.emplace_back(procedure);
    }
  }
  LockStep(const LockStep&) = delete;
  LockStep& operator=(const LockStep&) = delete;

  // Invokes the first procedure once for each row of the root call. Values from
  // 0 on are the outputs of the prologue, then the arguments of the root call.
  void Start(int32_t num_rows) {
    const PlannedProcedure& entry = plan_.procedures.front();
    readers_.AddValues(plan_.num_prologue_outputs);
    // The prologue's outputs live as long as the run.
    for (int32_t i = 0; i < plan_.num_prologue_outputs; ++i) {
      readers_.Add({i, 0});
    }
    const int32_t first = readers_.AddValues(entry.num_arguments);
    results_.resize(num_rows);
    for (int32_t row = 0; row < num_rows; ++row) {
      const int32_t id = Enter(0, kNoActivation, 0, row);
      if (id == kNoActivation) return;
      for (int32_t i = 0; i < entry.num_arguments; ++i) {
        Store(id, i, {first + i, row});
      }
    }
    readers_.FindUnread(first, entry.num_arguments);
    Settle();
  }

  // Sets `*launch` to what has to run next. Returns false when all is done, or
  // when a call or a push was refused.
  bool Next(Launch* launch) {
    if (is_refused() || frontier_.empty()) return false;
    const Choice choice = policy_->Choose(frontier_, LowestBlocks());
    launch->block = choice.block;
    launch->activations = frontier_.Take(choice.block, choice.depth);
    const Stage& stage = StageOf(launch->activations.front());
    const PlannedProcedure& procedure =
        ProcedureOf(launch->activations.front());
    launch->inputs.clear();
    launch->list_inputs.clear();
    launch->list_outputs.clear();
    for (const StageInput& input : stage.inputs) {
      JoinedRows& joined = launch->inputs.emplace_back();
      if (const PlannedList* list = procedure.ListAt(input.front())) {
        AddItems(*list, launch);
        continue;
      }
      for (const Source& source : input) {
        Rows& rows = joined.emplace_back();
        rows.Reserve(launch->activations.size());
        for (const int32_t id : launch->activations) {
          rows.Add(Find(id, source));
        }
      }
    }
    launch->first_value = readers_.AddValues(stage.num_outputs);
    for (const PlannedList& list : procedure.lists) {
      FindCounts(list, stage, launch);
    }
    return true;
  }

  // Says that the values of `launch` are there. What waited for it goes on.
  void Complete(const Launch& launch) {
    const Stage& stage = StageOf(launch.activations.front());
    const Liveness& liveness = LivenessOf(launch.activations.front());
    read_outputs_.clear();
    MakeLists(launch, stage);
    for (int32_t k = 0; k < stage.num_outputs; ++k) {
      if (!liveness.IsRead(stage.first_output + k)) continue;
      if (launch.IsListOutput(k)) continue;
      readers_.Add(launch.first_value + k, launch.num_rows());
      read_outputs_.push_back(k);
    }
    readers_.FindUnread(launch.first_value, stage.num_outputs);
    // One pass: there may be more activations than a cache holds.
    for (int32_t i = 0; i < launch.num_rows() && !is_refused(); ++i) {
      PrefetchParentAfter(launch.activations, i);
      const int32_t id = launch.activations[i];
      for (const int32_t k : read_outputs_) {
        activations_.slot(id, stage.first_output + k) = {launch.first_value + k,
                                                         i};
      }
      activations_[id].progress = NextProgress(id, launch.block);
      Continue(id);
    }
    if (is_refused()) return;
    Settle();
  }

  // Returns the values whose memory may go, each once. Results live on.
  std::vector<int32_t> TakeDeadValues() { return readers_.TakeDead(); }

  // Returns where each result of the root call is, row by row.
  // REQUIRES: all is done.
  std::vector<Rows> Results() const {
    std::vector<Rows> columns(plan_.procedures.front().outputs.size());
    for (const std::vector<ValueRow>& row : results_) {
      for (size_t i = 0; i < columns.size(); ++i) columns[i].Add(row[i]);
    }
    return columns;
  }

  // Returns which call was one too many, if one was.
  const std::optional<Refusal>& refused_call() const { return refused_call_; }

  // Returns whose push the host refused, if it did.
  const std::optional<int32_t>& refused_push() const { return refused_push_; }

  // Returns a front that waits for itself, and for which key, if nothing can go
  // on. REQUIRES: there is no next launch, and nothing was refused.
  std::optional<SharedRows::Wait> FindCycle() const {
    if (activations_.num_alive() == 0) return std::nullopt;
    return recursive_tf::FindCycle(shared_.Waits(), activations_);
  }

  // Returns the invocation path of an activation in flight, as FormatPath does.
  std::string PathOf(int32_t id, bool mapped,
                     const std::vector<std::string>& names) const {
    return FormatSteps(StepsOfPath(plan_, frames_, activations_, id), mapped,
                       names);
  }

  // Returns the path that a refused call would have had.
  std::string PathOf(const Refusal& refused, bool mapped,
                     const std::vector<std::string>& names) const {
    std::vector<Activation> steps =
        StepsOfPath(plan_, frames_, activations_, refused.caller);
    Activation last;
    last.procedure = refused.procedure;
    last.site = refused.site;
    last.ordinal = refused.row;
    steps.insert(steps.begin(), last);
    return FormatSteps(std::move(steps), mapped, names);
  }

  // Returns the SubGraph whose body an activation in flight is in.
  int32_t SubGraphOf(int32_t id) const {
    while (true) {
      const BatchedActivation& activation = activations_[id];
      const int32_t procedure = frames_.Outermost(activation.procedure);
      if (!plan_.procedures[procedure].is_branch) return procedure;
      id = activation.parent;
    }
  }

  const ActivationTable& activations() const { return activations_; }
  const Lists& lists() const { return lists_; }
  int32_t num_values() const { return readers_.num_values(); }

 private:
  bool is_refused() const {
    return refused_call_.has_value() || refused_push_.has_value();
  }

  const PlannedProcedure& ProcedureOf(int32_t id) const {
    return plan_.procedures[activations_[id].procedure];
  }

  const Stage& StageOf(int32_t id) const {
    return ProcedureOf(id).stages[activations_[id].stage];
  }

  const Liveness& LivenessOf(int32_t id) const {
    return liveness_[activations_[id].procedure];
  }

  // Callers are spread over more memory than caches hold.
  void PrefetchParentAfter(const std::vector<int32_t>& ids, size_t i) const {
    constexpr size_t kAhead = 8;
    if (i + kAhead < ids.size()) activations_.PrefetchParent(ids[i + kAhead]);
  }

  ValueRow Find(int32_t id, Source source) {
    if (source.of_prologue()) return {source.prologue_output(), 0};
    return activations_.slot(id, source.slot);
  }

  void Store(int32_t id, int32_t slot, ValueRow row) {
    StoreAt(id, 0, activations_[id].procedure, slot, row);
  }

  // Stores a row in a slot of `procedure`, whose slots stand `offset` after
  // those of the procedure that the activation is in.
  void StoreAt(int32_t id, int32_t offset, int32_t procedure, int32_t slot,
               ValueRow row) {
    if (!liveness_[procedure].IsRead(slot)) return;
    activations_.slot(id, offset + slot) = row;
    Hold(row);
  }

  // Says that a slot holds a row, or a list.
  void Hold(ValueRow row) {
    if (Lists::IsList(row)) return lists_.Hold(row);
    readers_.Add(row);
  }

  void LetGoOfList(ValueRow list) {
    lists_.LetGo(list, [this](ValueRow item) { readers_.Remove(item); });
  }

  void Clear(int32_t id, int32_t slot) {
    ValueRow& row = activations_.slot(id, slot);
    if (row.value == ValueRow::kNoValue) return;
    if (row.value > ValueRow::kNoValue) {
      readers_.Remove(row);
    } else if (Lists::IsList(row)) {
      LetGoOfList(row);
    }
    row = ValueRow();
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
          lists_.Items(Find(id, Source::Slot(list.slot)));
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
      added.counts.push_back(counts < 0
                                 ? Find(launch->activations[i], list.count)
                                 : ValueRow{launch->first_value + counts, i});
    }
  }

  // Gives each activation its items of what a launch computed.
  void MakeLists(const Launch& launch, const Stage& stage) {
    for (const ListOutput& made : launch.list_outputs) {
      const int32_t slot = stage.first_output + made.output;
      if (!LivenessOf(launch.activations.front()).IsRead(slot)) continue;
      int32_t row = 0;
      for (int32_t i = 0; i < launch.num_rows(); ++i) {
        const int32_t count = host_->ReadCount(made.counts[i]);
        const ValueRow list = lists_.Add(count);
        for (int32_t item = 0; item < count; ++item) {
          lists_.Set(list, item, {launch.first_value + made.output, row++});
        }
        readers_.Add(launch.first_value + made.output, count);
        lists_.Hold(list);
        activations_.slot(launch.activations[i], slot) = list;
      }
    }
  }

  // The blocks of the lowest rank that somebody waits for, in order.
  const std::vector<int32_t>& LowestBlocks() {
    lowest_blocks_.clear();
    for (int32_t block = 0; block < frontier_.num_blocks(); ++block) {
      if (frontier_.count(block) == 0) continue;
      if (!lowest_blocks_.empty()) {
        const int32_t least = order_.rank(lowest_blocks_.front());
        if (order_.rank(block) > least) continue;
        if (order_.rank(block) < least) lowest_blocks_.clear();
      }
      lowest_blocks_.push_back(block);
    }
    return lowest_blocks_;
  }

  Progress NextProgress(int32_t id, int32_t block) const {
    const Progress& before = activations_[id].progress;
    const int32_t rank = order_.rank(block);
    return {rank, before.rank == rank ? before.depth + 1 : 1};
  }

  // Makes an activation, which Settle sets off. Returns its id, or none if a
  // limit is reached.
  int32_t Enter(int32_t procedure, int32_t parent, int32_t site, int32_t row) {
    const bool is_branch = plan_.procedures[procedure].is_branch;
    const int32_t depth =
        (parent == kNoActivation ? 0 : activations_[parent].call_depth) +
        (is_branch ? 0 : 1);
    const ActivationTree::Verdict verdict =
        is_branch ? ActivationTree::Verdict::kEntered : Judge(depth);
    if (verdict != ActivationTree::Verdict::kEntered) {
      refused_call_ = Refusal{verdict, parent, site, procedure, row};
      return kNoActivation;
    }
    if (!is_branch) ++num_invocations_;
    const int32_t id = activations_.Add(procedure);
    BatchedActivation& activation = activations_[id];
    activation.parent = parent;
    activation.site = site;
    activation.row = row;
    activation.call_depth = depth;
    if (parent != kNoActivation) {
      activation.progress = activations_[parent].progress;
    }
    entered_.push_back(id);
    return id;
  }

  ActivationTree::Verdict Judge(int32_t depth) const {
    if (limits_.IsTooDeep(depth)) return ActivationTree::Verdict::kTooDeep;
    if (limits_.IsReached(num_invocations_)) {
      return ActivationTree::Verdict::kTooMany;
    }
    return ActivationTree::Verdict::kEntered;
  }

  // Takes every activation that may go on to its next block.
  void Settle() {
    SettleEntered();
    while (!resumed_.empty() && !is_refused()) {
      for (const int32_t id : std::exchange(resumed_, {})) EndStage(id);
      SettleEntered();
    }
  }

  // The same of those that entered a procedure or a stage, in the order in
  // which they did.
  void SettleEntered() {
    for (size_t i = 0; i < entered_.size(); ++i) {
      const int32_t id = entered_[i];
      if (is_refused()) break;
      PrefetchParentAfter(entered_, i);
      if (plan_.procedures[activations_[id].procedure].stages.empty()) {
        EndStage(id);
      } else if (const int32_t block = StageOf(id).block; block == kNoBlock) {
        Continue(id);
      } else {
        frontier_.Add(block, NextProgress(id, block).depth, id);
      }
    }
    entered_.clear();
  }

  // Returns whether the host took all that a stage pushes.
  bool PushRows(const Stage& stage, int32_t id) {
    for (const PlannedPush& push : stage.pushes) {
      if (!host_->Push(push.table, Find(id, push.index),
                       Find(id, push.value))) {
        refused_push_ = id;
        return false;
      }
    }
    return true;
  }

  // Does what comes after the block of a stage.
  void Continue(int32_t id) {
    const int32_t stage_index = activations_[id].stage;
    const Stage& stage = StageOf(id);
    if (!PushRows(stage, id)) return;
    if (stage.calls.size() == 1) {
      const CallSite& call = stage.calls.front();
      const Branch& branch = call.branches[BranchOf(call, id)];
      if (call.key.has_value()) return Share(call, id);
      if (frames_.RunsInPlace(branch.procedure)) return GoTo(branch, id);
    }
    int32_t num_made = 0;
    for (const CallSite& call : stage.calls) num_made += Make(call, id);
    if (is_refused()) return;
    EndReads(id, stage_index);
    activations_[id].num_pending = num_made;
    if (num_made == 0) EndStage(id);
  }

  // Takes an activation to a branch that runs in place.
  void GoTo(const Branch& branch, int32_t id) {
    BatchedActivation& activation = activations_[id];
    const int32_t num_slots = plan_.procedures[activation.procedure].num_slots;
    for (size_t i = 0; i < branch.arguments.size(); ++i) {
      StoreAt(id, num_slots, branch.procedure, static_cast<int32_t>(i),
              Find(id, branch.arguments[i]));
    }
    EndReads(id, activation.stage);
    activation.procedure = branch.procedure;
    activation.stage = 0;
    activation.first_slot += num_slots;
    entered_.push_back(id);
  }

  // Takes a front to what it shares, if nobody asked for that before; or gives
  // it what came of that, now or when it has ended.
  void Share(const CallSite& call, int32_t id) {
    const Branch& body = call.branches.front();
    const MemoKey key{body.procedure, host_->ReadKey(Find(id, *call.key))};
    const SharedRow* shared = nullptr;
    const SharedRows::Verdict verdict = shared_.Ask(key, id, &shared);
    if (verdict == SharedRows::Verdict::kIsNew) return GoTo(body, id);
    EndReads(id, activations_[id].stage);
    if (verdict == SharedRows::Verdict::kWillEnd) return;
    TakeShared(*shared, call.first_result, id);
    EndStage(id);
  }

  void TakeShared(const SharedRow& shared, int32_t first_result, int32_t id) {
    for (size_t i = 0; i < shared.results.size(); ++i) {
      Store(id, first_result + static_cast<int32_t>(i), shared.results[i]);
    }
    Progress& progress = activations_[id].progress;
    progress = std::max(progress, shared.progress);
  }

  // Gives what a front shares, which ran in place, to all that wait for it.
  void EndShared(int32_t id, const Frames::Home& home, size_t num_results) {
    std::vector<ValueRow> results;
    for (size_t i = 0; i < num_results; ++i) {
      const auto slot = home.first_result + static_cast<int32_t>(i);
      results.push_back(activations_.slot(id, slot));
      // For those that will ask, as long as the run lasts.
      if (LivenessOf(id).IsRead(slot)) readers_.Add(results.back());
    }
    std::vector<int32_t> waiters;
    const SharedRow& shared = shared_.End(id, std::move(results),
                                          activations_[id].progress, &waiters);
    for (const int32_t waiter : waiters) {
      TakeShared(shared, home.first_result, waiter);
    }
    resumed_.insert(resumed_.end(), waiters.begin(), waiters.end());
  }

  // Takes an activation from a branch that ran in place back to where it was.
  void GoBack(int32_t id) {
    const int32_t procedure = activations_[id].procedure;
    const Frames::Home& home = frames_.HomeOf(procedure);
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
      StoreAt(id, -num_slots, around, first_slot + static_cast<int32_t>(i),
              Find(id, sources[i]));
    }
    EndReads(id, static_cast<int32_t>(stages.size()));
    activation.procedure = around;
    activation.first_slot -= num_slots;
  }

  // Empties the slots that an activation does not read after a stage.
  void EndReads(int32_t id, int32_t stage) {
    for (const int32_t slot : LivenessOf(id).DyingAfter(stage)) Clear(id, slot);
  }

  // Makes a call, or those of a map. Returns how many are to return, unless one
  // is refused.
  int32_t Make(const CallSite& call, int32_t caller) {
    if (is_refused()) return 0;
    const Branch& branch = call.branches[BranchOf(call, caller)];
    if (call.num_mapped > 0) return MakeForItems(call, branch, caller);
    const int32_t id = Enter(branch.procedure, caller, call.site, /*row=*/0);
    if (id == kNoActivation) return 0;
    activations_[id].first_result = call.first_result;
    for (size_t i = 0; i < branch.arguments.size(); ++i) {
      Store(id, static_cast<int32_t>(i), Find(caller, branch.arguments[i]));
    }
    return 1;
  }

  int32_t MakeForItems(const CallSite& call, const Branch& branch,
                       int32_t caller) {
    const int32_t count = lists_.Count(Find(caller, branch.arguments.front()));
    const size_t num_results =
        plan_.procedures[branch.procedure].outputs.size();
    for (size_t i = 0; i < num_results; ++i) {
      const int32_t slot = call.first_result + static_cast<int32_t>(i);
      if (LivenessOf(caller).IsRead(slot)) {
        Store(caller, slot, lists_.Add(count));
      }
    }
    for (int32_t row = 0; row < count; ++row) {
      const int32_t id = Enter(branch.procedure, caller, call.site, row);
      if (id == kNoActivation) return row;
      activations_[id].first_result = call.first_result;
      for (size_t i = 0; i < branch.arguments.size(); ++i) {
        const ValueRow argument = Find(caller, branch.arguments[i]);
        const bool is_mapped = static_cast<int32_t>(i) < call.num_mapped;
        Store(id, static_cast<int32_t>(i),
              is_mapped ? lists_.Items(argument)[row] : argument);
      }
    }
    return count;
  }

  // Stores a result of a call, or of that for item `row` of a map, whose list
  // is there since the calls were made.
  void StoreResult(int32_t caller, int32_t slot, int32_t row, ValueRow result) {
    if (!LivenessOf(caller).IsRead(slot)) return;
    ValueRow& there = activations_.slot(caller, slot);
    if (Lists::IsList(there)) {
      lists_.Set(there, row, result);
      return readers_.Add(result);
    }
    there = result;
    Hold(result);
  }

  size_t BranchOf(const CallSite& call, int32_t caller) {
    if (!call.selector.has_value()) return 0;
    const int32_t chosen = host_->ReadSelector(Find(caller, *call.selector));
    const size_t last = call.branches.size() - 1;
    return chosen < 0 ? last : std::min(static_cast<size_t>(chosen), last);
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
        EndReads(id, activation.stage);
        continue;
      }
      if (procedure.goes_on.has_value()) return GoOn(*procedure.goes_on, id);
      if (frames_.RunsInPlace(activation.procedure)) {
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
    const int32_t caller = activation.parent;
    const PlannedProcedure& procedure = plan_.procedures[activation.procedure];
    if (activation.parent == kNoActivation) {
      for (const Source& output : procedure.outputs) {
        const ValueRow row = Find(id, output);
        readers_.Add(row);
        results_[activation.row].push_back(row);
      }
    } else {
      for (size_t i = 0; i < procedure.outputs.size(); ++i) {
        StoreResult(activation.parent,
                    activation.first_result + static_cast<int32_t>(i),
                    activation.row, Find(id, procedure.outputs[i]));
      }
      Progress& progress = activations_[activation.parent].progress;
      progress = std::max(progress, activation.progress);
    }
    EndReads(id, static_cast<int32_t>(procedure.stages.size()));
    activations_.Remove(id);
    if (!procedure.is_branch) --num_invocations_;
    return caller;
  }

  const Plan& plan_;
  const BlockOrder& order_;
  Policy* const policy_;
  Host* const host_;
  const ActivationLimits limits_;
  std::vector<Liveness> liveness_;

  const Frames frames_;
  ActivationTable activations_;
  Frontier frontier_;
  ValueReaders readers_;
  Lists lists_;
  // Activations that have yet to be taken to their next block.
  std::vector<int32_t> entered_;
  // Fronts that have got what they waited for.
  std::vector<int32_t> resumed_;
  SharedRows shared_;
  std::vector<int32_t> lowest_blocks_;
  // Of the launch that completes: what anybody reads.
  std::vector<int32_t> read_outputs_;
  std::vector<std::vector<ValueRow>> results_;
  std::optional<Refusal> refused_call_;
  std::optional<int32_t> refused_push_;
  int64_t num_invocations_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LOCK_STEP_H_
