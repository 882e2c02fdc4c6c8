#ifndef RECURSIVE_TF_CC_RUNTIME_LOCAL_WORK_H_
#define RECURSIVE_TF_CC_RUNTIME_LOCAL_WORK_H_

#include <functional>
#include <utility>

namespace recursive_tf {

// Runs work on one thread, piece after piece: what a piece leaves behind for
// its own thread comes next, when the piece has returned. So calls that start
// one another stay on one thread, in its caches, and use no stack: the way down
// a recursion and the way back are loops.
//
// A thread keeps one piece, the one left last. The one left before it goes to
// whoever is free: what is nearest stays, what is older, and larger, is shared.
//
// Thread safety: all state belongs to the calling thread.
class LocalWork {
 public:
  using Work = std::function<void()>;

  // Runs `work`, and then what is left behind, until nothing is.
  static void Run(Work work) {
    State& state = StateOfThread();
    State outer = std::exchange(state, State{/*runs=*/true, /*in_scope=*/false,
                                             /*next=*/nullptr});
    while (work != nullptr) {
      work();
      work = std::exchange(state.next, nullptr);
    }
    state = std::move(outer);
  }

  // Leaves `work` for the Run that this thread is in. Returns what another
  // thread has to run instead: the piece that was left before, `work` itself
  // outside of any Run, or null if there is nothing.
  [[nodiscard]] static Work Leave(Work work) {
    State& state = StateOfThread();
    if (!state.runs) return work;
    return std::exchange(state.next, std::move(work));
  }

  // While one lives, what its thread schedules should be left: it is the start
  // or the end of a call, with which the current piece has done its work.
  class Scope {
   public:
    Scope() : outer_(std::exchange(StateOfThread().in_scope, true)) {}
    ~Scope() { StateOfThread().in_scope = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const bool outer_;
  };

  static bool InScope() { return StateOfThread().in_scope; }

 private:
  struct State {
    bool runs;
    bool in_scope;
    Work next;
  };

  static State& StateOfThread() {
    static thread_local State state{/*runs=*/false, /*in_scope=*/false,
                                    /*next=*/nullptr};
    return state;
  }
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_LOCAL_WORK_H_
