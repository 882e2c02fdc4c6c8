#ifndef RECURSIVE_TF_CC_RUNTIME_SHARED_INVOCATIONS_H_
#define RECURSIVE_TF_CC_RUNTIME_SHARED_INVOCATIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/runtime/memo_key.h"
#include "recursive_tf/cc/runtime/wait_graph.h"

namespace recursive_tf {

// The invocations of memoized SubGraphs within one root call: who asks for a
// key first runs it, and all others get what came of it. No thread waits: what
// depends on it is a continuation.
//
// Thread safety: every method may be called from any thread.
//
// Invariants:
//   (1) What is told to run is ended once.
//   (2) An outcome stays where it is until this dies.
//
// Cost: O(1) and a lock, and what the WaitGraph costs.
template <typename Outcome>
class SharedInvocations {
 public:
  using Waiter = std::function<void(const Outcome& outcome)>;

  // One shared invocation.
  class Shared : public WaitVertex {
   public:
    // REQUIRES: it has ended.
    const Outcome& outcome() const { return outcome_; }

   private:
    friend class SharedInvocations;

    int64_t number_ = 0;
    Outcome outcome_{};
    std::vector<Waiter> waiters_;
  };

  enum class Verdict : uint8_t {
    // Nobody asked for it before: the caller must run it, and end it.
    kIsNew,
    // The waiter will be called, once it has ended.
    kWillEnd,
    kHasEnded,
    // It waits for `asker`: the waiter will not be called.
    kIsCycle,
  };

  // Asks for what has the key. `asker` is the shared invocation in whose body
  // that is asked, or null. `waiter` is called with the outcome, unless that is
  // there already: then it is in `*shared`. Of a cycle, `*cycle` gets the
  // numbers of the keys: what was asked for, what that waits for, and so on, up
  // to who asked. Others may end these as soon as this has returned.
  [[nodiscard]] Verdict Ask(const MemoKey& key, WaitVertex* asker,
                            Waiter waiter, Shared** shared,
                            std::vector<int64_t>* cycle) {
    MutexLock lock(&mu_);
    const auto [found, is_new] = by_key_.try_emplace(key);
    *shared = &found->second;
    if (is_new) {
      (*shared)->number_ = key.number;
      waits_.AddNew(asker, *shared);
    } else if (!waits_.Add(asker, *shared)) {
      for (const WaitVertex* at : WaitGraph::Way(*shared, asker)) {
        cycle->push_back(static_cast<const Shared*>(at)->number_);
      }
      return Verdict::kIsCycle;
    }
    if ((*shared)->has_ended) return Verdict::kHasEnded;
    (*shared)->waiters_.push_back(std::move(waiter));
    return is_new ? Verdict::kIsNew : Verdict::kWillEnd;
  }

  // Gives `shared` its outcome, and calls all that wait for it.
  void End(Shared* shared, Outcome outcome) {
    for (const Waiter& waiter : Take(shared, std::move(outcome))) {
      waiter(shared->outcome());
    }
  }

  // Returns the outcomes of all that have ended, by height: one needed none but
  // such as stand before it.
  std::vector<std::vector<const Outcome*>> ByHeight() const {
    MutexLock lock(&mu_);
    std::vector<std::vector<const Outcome*>> levels;
    for (const auto& [key, shared] : by_key_) {
      if (!shared.has_ended) continue;
      const auto height = static_cast<size_t>(shared.height);
      if (levels.size() < height) levels.resize(height);
      levels[height - 1].push_back(&shared.outcome());
    }
    return levels;
  }

 private:
  std::vector<Waiter> Take(Shared* shared, Outcome outcome) {
    MutexLock lock(&mu_);
    shared->outcome_ = std::move(outcome);
    WaitGraph::End(shared);
    return std::exchange(shared->waiters_, {});
  }

  mutable Mutex mu_;
  WaitGraph waits_ ABSL_GUARDED_BY(mu_);
  std::unordered_map<MemoKey, Shared, MemoKeyHash> by_key_ ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_SHARED_INVOCATIONS_H_
