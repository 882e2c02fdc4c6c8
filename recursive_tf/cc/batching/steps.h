#ifndef RECURSIVE_TF_CC_BATCHING_STEPS_H_
#define RECURSIVE_TF_CC_BATCHING_STEPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/wait_cycle.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

// A call that was one too many.
struct RefusedCall {
  ActivationTree::Verdict verdict;
  // Who made it, where, and of what.
  int32_t caller;
  int32_t site;
  int32_t procedure;
  // Of the root call, if that is who made it, or of a map.
  int32_t row;
};

// Runs a plan with all activations in lock step: says which block to launch
// next and where its rows come from, and what becomes of its outputs. It never
// sees a tensor: a host reads and pushes rows for it.
//
//   steps.Start(num_rows);
//   Launch launch;
//   while (steps.Next(&launch)) {
//     ... compute the values of launch ...
//     steps.Complete(launch);
//   }
class Steps {
 public:
  Steps() = default;
  virtual ~Steps() = default;
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  // Returns how many tables AddTables takes for a block, before Start; none if
  // it must not be called.
  virtual int32_t NumTables(int32_t /*block*/) const { return 0; }

  // Says that a block only looks up rows, and so is not launched: output i is
  // the row of table i at the number that is its only input. A number that is
  // not below `num_rows` launches it, to say what it says then.
  // REQUIRES: `count` is NumTables(block), and not 0.
  virtual void AddTables(int32_t /*block*/, int32_t /*count*/,
                         int32_t /*num_rows*/) {}

  // Returns how many rows of the tables of a block were looked up.
  virtual int64_t NumLookedUp(int32_t /*block*/) const { return 0; }

  // Invokes the first procedure once for each row of the root call. Values from
  // 0 on are the outputs of the prologue, then the arguments of the root call,
  // then tables, in the order in which they were added.
  virtual void Start(int32_t num_rows) = 0;

  // Sets `*launch` to what has to run next. Returns false when all is done, or
  // when a call or a push was refused or the run cancelled.
  virtual bool Next(Launch* launch) = 0;

  // Says how many bytes all values hold by now, for the limit.
  virtual void set_num_bytes(int64_t num_bytes) = 0;

  // Says that the values of `launch` are there. What waited for it goes on.
  virtual void Complete(const Launch& launch) = 0;

  // Returns the values whose memory may go, each once, valid until it is called
  // again. Results live on.
  virtual const std::vector<int32_t>& TakeDeadValues() = 0;

  // Returns where each result of the root call is, row by row.
  // REQUIRES: all is done.
  virtual std::vector<Rows> Results() const = 0;

  // Returns which call was one too many, if one was.
  virtual const std::optional<RefusedCall>& refused_call() const = 0;

  // Returns whose push the host refused, if it did.
  virtual const std::optional<int32_t>& refused_push() const = 0;

  // Returns whether the host said between two launches that the run is
  // cancelled.
  virtual bool is_cancelled() const = 0;

  // Returns calls that wait for themselves, if nothing can go on. REQUIRES:
  // there is no next launch, and nothing was refused.
  virtual std::optional<WaitCycle> FindCycle() const = 0;

  // --- Invocation paths.

  // Returns that of an activation in flight.
  virtual std::vector<PathStep> StepsOf(int32_t id) const = 0;

  // Returns that of a call which `caller` makes, or the root call.
  virtual std::vector<PathStep> StepsOfCallee(int32_t caller,
                                              PathStep callee) const = 0;

  // Returns such a path for people, as FormatPath does: of an activation, a
  // refused call, or a call that waits.
  std::string PathOf(int32_t id, bool mapped,
                     const std::vector<std::string>& names) const {
    return FormatPath(StepsOf(id), mapped, names);
  }
  std::string PathOf(const RefusedCall& refused, bool mapped,
                     const std::vector<std::string>& names) const {
    const PathStep callee{refused.procedure, refused.site, refused.row};
    return FormatPath(StepsOfCallee(refused.caller, callee), mapped, names);
  }
  std::string PathOf(const WaitingCall& wait, bool mapped,
                     const std::vector<std::string>& names) const {
    if (!wait.front.has_value()) return PathOf(wait.caller, mapped, names);
    return FormatPath(StepsOfCallee(wait.caller, *wait.front), mapped, names);
  }

  // Returns the SubGraph whose body an activation in flight is in.
  virtual int32_t SubGraphOf(int32_t id) const = 0;

  // Returns which value decided last that an activation in flight gets where it
  // is; none if nothing had to.
  virtual ValueRow DecidedBy(int32_t id) const = 0;

  // --- How much there is.

  virtual int32_t num_values() const = 0;
  // Activations.
  virtual int64_t num_alive() const = 0;
  virtual int64_t max_alive() const = 0;
  // What they take, without values.
  virtual int64_t num_bytes() const = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_STEPS_H_
