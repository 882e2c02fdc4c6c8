#ifndef RECURSIVE_TF_CC_BATCHING_FLOW_STEPS_H_
#define RECURSIVE_TF_CC_BATCHING_FLOW_STEPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/admission.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/flow_shared.h"
#include "recursive_tf/cc/batching/flow_table.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/key_table.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/schedule.h"
#include "recursive_tf/cc/batching/steps.h"
#include "recursive_tf/cc/batching/value_readers.h"
#include "recursive_tf/cc/batching/wait_cycle.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

// Runs a flow (flow.h). It launches what LockStep would, in the same order,
// with a fraction of the work for each invocation: a call leaves the number of
// who it asks, which one look-up of its key finds if invocations are shared;
// nothing is handed over when that ends, since who reads a result finds it
// there. Those that are in one stage are a group. It goes on step by step: a
// step for one after the other, and then the next one. So what a step has to
// know of the stage is found once for all of them.
//
// Invariants:
//   (1) An invocation and its cells stay where they are as long as another may
//       read them: if it is shared, as long as the run lasts; otherwise until
//       its caller ends.
//   (2) A value has as many readers as invocations have yet to read it, and as
//       results are rows of it.
//
// Cost: linear in the numbers of invocations and of their calls.
class FlowSteps : public Steps {
 public:
  // All pointers must outlive this.
  FlowSteps(const Plan* plan, const Flow* flow, const BlockOrder* order,
            const Policy* policy, Host* host, ActivationLimits limits)
      : plan_(*plan),
        flow_(*flow),
        host_(host),
        admission_(limits),
        schedule_(order, policy, plan->num_blocks),
        table_(flow->num_cells, flow->results.size()),
        tables_(plan->num_blocks),
        by_edge_(flow->num_edges),
        num_gone_(flow->num_edges, 0) {}

  int32_t NumTables(int32_t block) const override;
  void AddTables(int32_t block, int32_t count, int32_t num_rows) override {
    tables_[block].count = count;
    tables_[block].num_rows = num_rows;
    looked_up_.push_back(block);
  }
  int64_t NumLookedUp(int32_t block) const override {
    return tables_[block].num_looked_up;
  }
  void Start(int32_t num_rows) override;
  bool Next(Launch* launch) override;
  void set_num_bytes(int64_t num_bytes) override {
    admission_.set_num_bytes(num_bytes);
  }
  void Complete(const Launch& launch) override;
  const std::vector<int32_t>& TakeDeadValues() override {
    return readers_.TakeDead();
  }
  std::vector<Rows> Results() const override;

  const std::optional<RefusedCall>& refused_call() const override {
    return refused_call_;
  }
  const std::optional<int32_t>& refused_push() const override {
    return refused_push_;
  }
  bool is_cancelled() const override { return is_cancelled_; }
  std::optional<WaitCycle> FindCycle() const override;

  std::vector<PathStep> StepsOf(int32_t id) const override;
  std::vector<PathStep> StepsOfCallee(int32_t caller,
                                      PathStep callee) const override;
  int32_t SubGraphOf(int32_t /*id*/) const override { return flow_.subgraph; }
  ValueRow DecidedBy(int32_t id) const override {
    return table_[id]->decided_by;
  }

  int32_t num_values() const override { return readers_.num_values(); }
  int64_t num_alive() const override { return admission_.num_invocations(); }
  int64_t max_alive() const override { return max_alive_; }
  int64_t num_bytes() const override;

 private:
  // Results and callers stand anywhere: those of what comes so many later are
  // asked for now.
  static constexpr size_t kAhead = 8;

  // Invocations that are in one stage, in the order in which they came there.
  using Group = std::vector<FlowInvocation*>;

  // What a block looks up; nothing, if it computes.
  struct Tables {
    bool empty() const { return count == 0; }

    int32_t count = 0;
    int32_t num_rows = 0;
    int32_t first_value = 0;
    int64_t num_looked_up = 0;
  };

  bool is_refused() const {
    return refused_call_.has_value() || refused_push_.has_value() ||
           is_cancelled_;
  }

  // Returns where an invocation finds a value. REQUIRES: what it asked for to
  // get it has ended.
  ValueRow Find(const FlowInvocation& by, const FlowSource& source) const {
    const FlowSource* at = &source;
    while (true) {
      if (at->kind == FlowSource::Kind::kPrologue) return {at->index, 0};
      if (at->kind == FlowSource::Kind::kCell) return RowAt(*at, by);
      const int32_t to = by.cells()[at->cell].value;
      if (to >= 0) return table_.result(to, at->index);
      at = &flow_.calls[at->of].ResultOf(to, at->index);
    }
  }
  // The same of a cell. REQUIRES: `source` is one.
  static ValueRow RowAt(const FlowSource& source, const FlowInvocation& by) {
    const ValueRow cell = by.cells()[source.cell];
    return {cell.value + source.index, cell.row};
  }
  // Sets the first of `*found` to where each of a group finds a value. It
  // grows, and does not shrink: most groups of some programs are one
  // invocation.
  void FindAll(const FlowSource& source, const Group& group,
               std::vector<ValueRow>* found) const;
  // The same of a result of a call.
  void FindResults(const FlowSource& source, const Group& group,
                   std::vector<ValueRow>* found) const;
  // The same of a row of the root call, which has no invocation.
  ValueRow FindAtRoot(int32_t row, const FlowSource& source) const {
    if (source.kind == FlowSource::Kind::kPrologue) return {source.index, 0};
    return {first_argument_ + source.index, row};
  }

  // Returns who a call asks for: who has its key, begun if nobody asked before,
  // or one of its own; null if a limit is reached. `parent` is null for a row
  // of the root call. `find` finds the sources of the call.
  template <typename FindSource>
  FlowInvocation* Ask(const FlowAsk& ask, FlowInvocation* parent, int32_t row,
                      const FindSource& find);
  // The same for a row of the root call.
  FlowInvocation* AskAtRoot(int32_t row);
  // Begins an invocation, without its arguments. Returns null if it may not.
  FlowInvocation* Begin(const FlowAsk& ask, FlowInvocation* parent,
                        int32_t row);

  // Numbers the values that tables are.
  void StartTables();
  // Lets all that may go on wait for their next blocks.
  void GoOnWithAll();
  void GoOnWithEach();
  // Says that a block reads so many rows of a value, and nobody after it.
  void ReadLast(int32_t value, int32_t count) {
    if (!read_last_.empty() && read_last_.back().first == value) {
      read_last_.back().second += count;
    } else {
      read_last_.emplace_back(value, count);
    }
  }
  // Gives up what is read last, after those who read it have gone on: they may
  // hold it.
  void EndLastReads();
  // Says that who looked up rows, and left the stage, does not read what dies
  // there.
  void ReleaseLookedUp();
  // Fills `group_` with those of `taken_` from `*begin` on that are in one
  // stage, and sets `*begin` to the one behind them. Returns the stage.
  int32_t TakeGroup(size_t* begin);
  // Gives a group the rows that the block of its stage looks up. Those for whom
  // the block has to be launched wait for it, and are in the group no more.
  // REQUIRES: there are tables.
  void LookUp(const FlowStage& stage, Group* group);
  // Does what comes after the block of the stage that a group is in: each waits
  // for others, or arrives at the next stage.
  void GoOn(int32_t at, const Group& group);
  // Leads a group by an edge to the next stage.
  void Leave(const FlowEdge& edge, const Group& group);
  // Takes a group to stage `to` and, if that has neither a block nor a call, on
  // from there.
  void Arrive(const Group& group, int32_t to);
  // Returns whether a stage has a block that is launched.
  bool IsLaunched(const FlowStage& stage) const {
    return stage.block != kNoBlock && tables_[stage.block].empty();
  }
  void WaitForBlock(const Group& group, int32_t block) {
    schedule_.AddAll(
        block, group.size(),
        [&](size_t i) -> const FlowInvocation& { return *group[i]; });
  }
  // Returns false if a push is refused.
  bool Push(const FlowStage& stage, const Group& group);
  // Makes the calls of a stage, and adds each that need not wait to those who
  // leave by its edge. Returns false if a call is refused.
  bool MakeCalls(const FlowStage& stage, const Group& group);
  // The same where every call asks, for one that is not shared.
  bool AskAll(const FlowStage& stage, const Group& group);
  // The same where the only call takes a branch.
  void Fork(const FlowStage& stage, const FlowCall& call, const Group& group);
  // Makes the calls of one of them. Returns its edge; null if one is refused.
  const FlowEdge* MakeCallsOf(const FlowStage& stage, FlowInvocation* by);
  // Takes a branch that asks nobody. Returns the edge by which it is entered;
  // null if it returns at once.
  const FlowEdge* TakeBranch(const FlowCall& call, size_t way,
                             FlowInvocation* by) {
    by->cells()[call.cell].value = WayOf(static_cast<int32_t>(way));
    const std::optional<FlowEdge>& entry = call.branches[way].entry;
    if (entry.has_value()) return &*entry;
    Hold(call, *by);
    return nullptr;
  }
  // Makes a call that asks, because `decided_by` says so, if anything does.
  void AskAt(const FlowCall& call, const FlowBranch& branch,
             ValueRow decided_by, FlowInvocation* by);
  // Makes a call that asks for each item of lists.
  void AskForItems(const FlowCall& call, FlowInvocation* by);
  // Lets an invocation wait for who it asked, unless that is shared and ended.
  void WaitFor(const FlowInvocation& asked, FlowInvocation* by, int32_t site,
               int32_t item);
  // Ends a group.
  void End(const Group& ended);
  // Says that a shared one has ended to all who wait for it, in their order.
  void Resume(const FlowInvocation& ended);
  // The same to one of them.
  void ResumeOne(FlowInvocation* waits, const Progress& progress) {
    waits->progress = std::max(waits->progress, progress);
    if (--waits->num_pending == 0) resumed_.push_back(waits);
  }
  // Returns those who wait for a shared one and are not among the first few.
  const Group& LateWaiters(const FlowShared& shared);
  // Says it to the caller of one that is not shared.
  void Return(FlowInvocation* ended);

  // Says that an invocation holds what a call of its own gave.
  void Hold(const FlowCall& call, const FlowInvocation& by) {
    for (const int32_t result : call.held_results) {
      const int32_t way = by.cells()[call.cell].value;
      readers_.Add(Find(by, call.ResultOf(way, result)));
    }
  }
  // Says that an invocation does not read a value any more.
  void Release(const FlowDeath& death, const FlowInvocation& by) {
    if (!IsThere(death, by)) return;
    if (death.is_of_items) return ReleaseItems(death.source, by);
    readers_.Remove(Find(by, death.source));
  }
  // The same of values that no one of a group reads any more.
  void Release(const std::vector<FlowDeath>& deaths, const Group& group) {
    for (const FlowDeath& death : deaths) {
      if (death.guards.empty() && !death.is_of_items) {
        FindAll(death.source, group, &found_);
        readers_.Remove(found_.data(), group.size());
        continue;
      }
      for (const FlowInvocation* const by : group) Release(death, *by);
    }
  }
  // The same of what a call for each item of lists gave.
  void ReleaseItems(const FlowSource& source, const FlowInvocation& by);
  static bool IsThere(const FlowDeath& death, const FlowInvocation& by) {
    for (const FlowDeath::Guard& guard : death.guards) {
      if (!guard.IsTaken(by.cells()[guard.cell].value)) return false;
    }
    return true;
  }
  // The same of outputs of a launch, for all that left its stage by an edge.
  void ReleaseOwn(const FlowEdge& edge, int32_t first_value);
  static void Decide(ValueRow by, FlowInvocation* of) {
    if (by.value > of->decided_by.value) of->decided_by = by;
  }

  // Says that who goes on when those end that come after `group[i]` is needed
  // soon: their callers, or the first few who wait for them.
  void PrefetchAfter(const Group& group, size_t i) const {
    if (i + kAhead >= group.size()) return;
    const FlowInvocation& later = *group[i + kAhead];
    if (!flow_.is_shared) return FlowTable::Prefetch(later.parent);
    const FlowShared& shared = shared_[later.id];
    const int32_t count = std::min(shared.num_waiters, FlowShared::kFew);
    for (int32_t waiter = 0; waiter < count; ++waiter) {
      FlowTable::Prefetch(shared.first[waiter]);
    }
  }

  // Sets a part of an input of a launch to a row of each invocation.
  void FindRows(const FlowSource& source, Rows* rows);
  // Sets an input of a launch to the items of a list of each invocation.
  void FindItems(const FlowSource& source, const FlowListInput& list,
                 Launch* launch) const;
  void AddResultsOfItems(const FlowSource& source, ValueRow items,
                         Rows* rows) const;
  // Says where the counts of a list are that a launch gives.
  void FindCounts(const FlowListOutput& list, int32_t stage,
                  Launch* launch) const;
  // Names the first item of what a launch gave each invocation, and the count.
  void PutList(const Launch& launch, const FlowListOutput& list,
               const std::vector<ValueRow>& counts);

  static int32_t IdOf(const FlowInvocation* invocation) {
    return invocation == nullptr ? kNoActivation : invocation->id;
  }
  // Returns the calls that wait, except those that began what they wait for.
  std::vector<WaitingCall> Waits() const;

  const Plan& plan_;
  const Flow& flow_;
  Host* const host_;
  Admission admission_;
  Schedule schedule_;
  ValueReaders readers_;
  KeyTable keys_;
  FlowTable table_;
  // By invocation, if they are shared.
  PooledVector<FlowShared> shared_;
  PooledVector<FlowWaiter> waiters_;
  // By block; and those that have some.
  std::vector<Tables> tables_;
  std::vector<int32_t> looked_up_;
  // Who was asked for items of lists: those of a call one after the other. Its
  // cell says where, and how many.
  PooledVector<int32_t> asked_for_items_;
  // By row of the root call: who it asked for.
  std::vector<int32_t> of_rows_;
  // Invocations that entered a stage without a block, or begin; and those whose
  // calls all returned.
  Group entered_;
  Group resumed_;
  // Those whose turn it is, and those of them that are in one stage.
  Group taken_;
  Group group_;
  // Whether any group looked up rows since the last call of ReleaseLookedUp.
  bool has_looked_up_ = false;
  // Where a group finds something, and the indices of what it pushes.
  std::vector<ValueRow> found_;
  std::vector<ValueRow> indices_;
  // Those of a group who do not find what they look up.
  Group to_launch_;
  // Those of the launch that was last begun.
  Group launched_;
  // By edge: who leaves by it the stage that a group is in.
  std::vector<Group> by_edge_;
  // What LateWaiters returned last.
  Group late_;
  // What the launch that was last begun reads last, or a group that looks up
  // rows: values, and how many rows of each.
  std::vector<std::pair<int32_t, int32_t>> read_last_;
  // By edge: how many of the launch that completes left their stage by it, or
  // of those that now look up rows.
  std::vector<int32_t> num_gone_;
  int32_t first_argument_ = 0;
  int64_t max_alive_ = 0;
  std::optional<RefusedCall> refused_call_;
  std::optional<int32_t> refused_push_;
  bool is_cancelled_ = false;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_FLOW_STEPS_H_
