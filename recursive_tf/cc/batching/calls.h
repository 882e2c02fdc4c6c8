#ifndef RECURSIVE_TF_CC_BATCHING_CALLS_H_
#define RECURSIVE_TF_CC_BATCHING_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activations.h"
#include "recursive_tf/cc/batching/frames.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/shared_rows.h"
#include "recursive_tf/cc/runtime/activation_tree.h"

namespace recursive_tf {

// Follows calls and returns: takes each activation from one stage to the next,
// to what it calls, and back to who called it, until it waits for a block or is
// done. Who launches blocks then says that it goes on.
//
// An activation goes to a branch that runs in place, to the next turn of a
// loop, or to what it shares, and stays what it is; every other call makes an
// activation of its own.
//
// No recursion: a chain of calls may be as long as memory. A loop that launches
// nothing may turn forever, unless the host says that the run is cancelled; it
// takes no memory for it.
class Calls {
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
  Calls(const Plan* plan, Host* host, ActivationLimits limits,
        Activations* activations)
      : plan_(*plan),
        host_(host),
        limits_(limits),
        frames_(activations->frames()),
        activations_(*activations) {}
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // Invokes the first procedure once for each row of the root call, whose
  // arguments are the values from `first_argument` on.
  void Start(int32_t num_rows, int32_t first_argument);

  // Says how many bytes the values of all activations hold by now.
  void set_num_bytes(int64_t num_bytes) { num_bytes_ = num_bytes; }

  // Does what comes after the block of the stage that an activation is in.
  void Continue(int32_t id);

  // Takes every activation that may go on to its next block, which is handed
  // over: `wait(id, block)`.
  template <typename Wait>
  void Settle(const Wait& wait) {
    SettleEntered(wait);
    while (!resumed_.empty() && !is_refused()) {
      for (const int32_t id : std::exchange(resumed_, {})) EndStage(id);
      SettleEntered(wait);
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
  const std::optional<Refusal>& refused_call() const { return refused_call_; }

  // Returns whose push the host refused, if it did.
  const std::optional<int32_t>& refused_push() const { return refused_push_; }

  // Returns a front that waits for itself, and for which key, if activations
  // are left. REQUIRES: none of them waits for a block, and none was refused.
  std::optional<SharedRows::Wait> FindCycle() const;

 private:
  // Between two launches there are rarely more than a few.
  static constexpr int64_t kRoundsToAsk = 1024;

  // Makes an activation, which Settle sets off. Returns its id, or none if a
  // limit is reached.
  int32_t Enter(int32_t procedure, int32_t parent, int32_t site, int32_t row);
  ActivationTree::Verdict Judge(int32_t depth) const;

  // Settles those that entered a procedure or a stage, in the order in which
  // they did, round after round: what one of them enters is in the next.
  template <typename Wait>
  void SettleEntered(const Wait& wait) {
    for (int64_t round = 1; !entered_.empty(); ++round) {
      if (round % kRoundsToAsk == 0 && host_->IsCancelled()) {
        is_cancelled_ = true;
      }
      std::swap(settling_, entered_);
      SettleRound(wait);
      settling_.clear();
      if (is_refused()) entered_.clear();
    }
  }

  template <typename Wait>
  void SettleRound(const Wait& wait) {
    for (size_t i = 0; i < settling_.size() && !is_refused(); ++i) {
      const int32_t id = settling_[i];
      activations_.table().PrefetchParentAfter(settling_, i);
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
  bool PushRows(const Stage& stage, int32_t id);

  // Takes an activation to a branch that runs in place.
  void GoTo(const Branch& branch, int32_t id);

  // Takes a front to what it shares, if nobody asked for that before; or gives
  // it what came of that, now or when it has ended.
  void Share(const CallSite& call, Source number, int32_t id);
  void TakeShared(const SharedRow& shared, int32_t first_result, int32_t id);

  // Gives what a front shares, which ran in place, to all that wait for it.
  void EndShared(int32_t id, const Frames::Home& home, size_t num_results);

  // Takes an activation from a branch that ran in place back to where it was.
  void GoBack(int32_t id);

  // Takes an activation from the turn of a loop that ran in place to the next.
  void GoOn(const Branch& loop, int32_t id);

  // Takes an activation from the end of a branch that ran in place to the
  // procedure around it, whose slots from `first_slot` on get `sources`.
  void GoOut(int32_t id, const std::vector<Source>& sources, int32_t around,
             int32_t first_slot);

  // Makes a call, or those of a map. Returns how many are to return, unless one
  // is refused.
  int32_t Make(const CallSite& call, int32_t caller);
  int32_t MakeForItems(const CallSite& call, const Branch& branch,
                       int32_t caller);
  size_t BranchOf(const CallSite& call, int32_t caller);

  // Says that a call's selector sent an activation to where it is. What was
  // known before that stays: a value is launched after all that its activation
  // had to wait for.
  void Decide(const CallSite& call, int32_t caller, int32_t id);

  // Goes to the next stage, if there is one, or back to the caller, and on from
  // there.
  void EndStage(int32_t id);

  // Ends an activation: gives its results to the caller, which is returned.
  int32_t Leave(int32_t id);

  const Plan& plan_;
  Host* const host_;
  const ActivationLimits limits_;

  const Frames& frames_;
  Activations& activations_;
  SharedRows shared_;
  // Activations that have yet to be taken to their next block, and those of
  // them whose turn it is.
  std::vector<int32_t> entered_;
  std::vector<int32_t> settling_;
  // Fronts that have got what they waited for.
  std::vector<int32_t> resumed_;
  // Of the root call, by row.
  std::vector<std::vector<ValueRow>> results_;
  std::optional<Refusal> refused_call_;
  std::optional<int32_t> refused_push_;
  bool is_cancelled_ = false;
  int64_t num_invocations_ = 0;
  int64_t num_bytes_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_CALLS_H_
