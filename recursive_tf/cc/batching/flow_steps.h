#ifndef RECURSIVE_TF_CC_BATCHING_FLOW_STEPS_H_
#define RECURSIVE_TF_CC_BATCHING_FLOW_STEPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/admission.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/flow.h"
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
// there.
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
    return table_[id].decided_by;
  }

  int32_t num_values() const override { return readers_.num_values(); }
  int64_t num_alive() const override { return admission_.num_invocations(); }
  int64_t max_alive() const override { return max_alive_; }
  int64_t num_bytes() const override;

 private:
  static constexpr int32_t kNone = FlowInvocation::kNone;
  // Results and callers stand anywhere: those of what comes so many later are
  // asked for now.
  static constexpr size_t kAhead = 8;

  // Of an invocation that is shared. Has a constructor for the reason that
  // RowRun has one, as Waiter does.
  struct Shared {
    // So many that waiters of most invocations are found without a look at
    // `waiters_`, where those of one stand far from each other.
    static constexpr int32_t kFew = 5;

    explicit Shared(int64_t key) : key(key) {}

    int64_t key;
    // The calls that wait for it: how many, the last of them, and who makes the
    // first few.
    int32_t num_waiters = 0;
    int32_t last_waiter = kNone;
    int32_t first[kFew];
    bool has_ended = false;
  };

  // What a block looks up; nothing, if it computes.
  struct Tables {
    bool empty() const { return count == 0; }

    int32_t count = 0;
    int32_t num_rows = 0;
    int32_t first_value = 0;
    int64_t num_looked_up = 0;
  };

  // A call that waits.
  struct Waiter {
    Waiter(int32_t id, int32_t site, int32_t item, int32_t before)
        : id(id), site(site), item(item), before(before) {}

    int32_t id;
    int32_t site;
    int32_t item;
    // The one before it, for the same.
    int32_t before;
  };

  bool is_refused() const {
    return refused_call_.has_value() || refused_push_.has_value() ||
           is_cancelled_;
  }

  // Returns where an invocation finds a value. REQUIRES: what it asked for to
  // get it has ended.
  ValueRow Find(const FlowInvocation& by, const FlowSource& source) const {
    if (source.kind == FlowSource::Kind::kPrologue) return {source.index, 0};
    const ValueRow cell = by.cells[source.cell];
    if (source.kind == FlowSource::Kind::kCell) {
      return {cell.value + source.index, cell.row};
    }
    if (cell.value >= 0) return table_.result(cell.value, source.index);
    return Find(by, flow_.calls[source.of].ResultOf(cell.value, source.index));
  }
  // The same of a row of the root call, which has no invocation.
  ValueRow FindAtRoot(int32_t row, const FlowSource& source) const {
    if (source.kind == FlowSource::Kind::kPrologue) return {source.index, 0};
    return {first_argument_ + source.index, row};
  }

  // Returns who a call asks for: who has its key, begun if nobody asked before,
  // or one of its own; null if a limit is reached. `parent` is null for a row
  // of the root call. `find` finds the sources of the call.
  template <typename FindSource>
  FlowInvocation* Ask(const FlowAsk& ask, const FlowInvocation* parent,
                      int32_t row, const FindSource& find);
  // Begins an invocation, without its arguments. Returns null if it may not.
  FlowInvocation* Begin(const FlowAsk& ask, const FlowInvocation* parent,
                        int32_t row);

  // Numbers the values that tables are.
  void StartTables();
  // Lets all that may go on wait for their next blocks.
  void GoOnWithAll();
  void GoOnWithEach();
  // Says that who looked up rows, and left the stage, does not read what dies
  // there.
  void ReleaseLookedUp();
  // Does what comes after the block of the stage that an invocation is in: it
  // waits for others, or arrives at the next stage.
  void GoOn(const FlowStage& stage, FlowInvocation* by);
  // Takes it to stage `to` and, if that has neither a block nor a call, on from
  // there; at its end its caller, if that waited for it alone, to the stage
  // behind the call, and so on.
  void Arrive(FlowInvocation* by, int32_t to);
  void WaitForBlock(const FlowInvocation& waits, int32_t block) {
    schedule_.Add(waits.id, waits.progress, waits.call_depth, block);
  }
  // Gives an invocation the rows that the block of its stage looks up. Returns
  // false if the block has to be launched.
  bool LookUp(const FlowStage& stage, FlowInvocation* by);
  bool Push(const FlowStage& stage, const FlowInvocation& by);
  // Makes the calls of a stage. Returns where it goes on, also if it has to
  // wait first; null if a call is refused.
  const FlowEdge* MakeCalls(const FlowStage& stage, FlowInvocation* by);
  // Makes a call that asks, because `decided_by` says so, if anything does.
  void AskAt(const FlowCall& call, const FlowBranch& branch,
             ValueRow decided_by, FlowInvocation* by);
  // Makes a call that asks for each item of lists.
  void AskForItems(const FlowCall& call, FlowInvocation* by);
  // Lets an invocation wait for who it asked, unless that is shared and ended.
  void WaitFor(const FlowInvocation& asked, FlowInvocation* by, int32_t site,
               int32_t item);
  // Ends an invocation. Returns its caller if that goes on, or null.
  FlowInvocation* End(FlowInvocation* ended);
  // Says that a shared one has ended to all who wait for it, in their order.
  void Resume(const FlowInvocation& ended);
  // The same to one of them.
  void ResumeOne(int32_t waits, const Progress& progress) {
    FlowInvocation& invocation = table_[waits];
    invocation.progress = std::max(invocation.progress, progress);
    if (--invocation.num_pending == 0) resumed_.push_back(waits);
  }
  // Returns those who wait for a shared one and are not among the first few.
  const std::vector<int32_t>& LateWaiters(const Shared& shared);
  // Ends one that is not shared. Returns its caller if that goes on, or null.
  FlowInvocation* Return(FlowInvocation* ended);

  // Says that an invocation holds what a call of its own gave.
  void Hold(const FlowCall& call, const FlowInvocation& by) {
    for (const int32_t result : call.held_results) {
      readers_.Add(Find(by, call.ResultOf(by.cells[call.cell].value, result)));
    }
  }
  // Says that an invocation does not read values any more.
  void Release(const std::vector<FlowDeath>& deaths, const FlowInvocation& by) {
    for (const FlowDeath& death : deaths) {
      if (!IsThere(death, by)) continue;
      if (death.is_of_items) {
        ReleaseItems(death.source, by);
      } else {
        readers_.Remove(Find(by, death.source));
      }
    }
  }
  // The same of what a call for each item of lists gave.
  void ReleaseItems(const FlowSource& source, const FlowInvocation& by);
  static bool IsThere(const FlowDeath& death, const FlowInvocation& by) {
    for (const FlowDeath::Guard& guard : death.guards) {
      if (!guard.IsTaken(by.cells[guard.cell].value)) return false;
    }
    return true;
  }
  // The same of outputs of a launch, for all that left its stage by an edge.
  void ReleaseOwn(const FlowEdge& edge, int32_t first_value);
  static void Decide(ValueRow by, FlowInvocation* of) {
    if (by.value > of->decided_by.value) of->decided_by = by;
  }

  // Says that who goes on when those end that come after `ids[i]` is needed
  // soon: their callers, or the first few who wait for them.
  void PrefetchAfter(const std::vector<int32_t>& ids, size_t i) const {
    if (i + kAhead >= ids.size()) return;
    if (!flow_.is_shared) {
      table_.Prefetch(table_[ids[i + kAhead]].parent);
      return;
    }
    const Shared& shared = shared_[ids[i + kAhead]];
    const int32_t count = std::min(shared.num_waiters, Shared::kFew);
    for (int32_t waiter = 0; waiter < count; ++waiter) {
      table_.PrefetchInvocation(shared.first[waiter]);
    }
  }

  // Sets a part of an input of a launch to a row of each invocation.
  void FindRows(const FlowSource& source, const std::vector<int32_t>& ids,
                Rows* rows) const;
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
  PooledVector<Shared> shared_;
  PooledVector<Waiter> waiters_;
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
  std::vector<int32_t> entered_;
  std::vector<int32_t> resumed_;
  // Those whose turn it is.
  std::vector<int32_t> taken_;
  // What LateWaiters returned last.
  std::vector<int32_t> late_;
  // What the launch that was last begun reads, and nobody after it.
  std::vector<RowRun> read_last_;
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
