#ifndef RECURSIVE_TF_CC_RUNTIME_LOCAL_WORK_H_
#define RECURSIVE_TF_CC_RUNTIME_LOCAL_WORK_H_

#include <chrono>
#include <functional>
#include <optional>
#include <typeinfo>
#include <utility>
#include <vector>

#include "recursive_tf/cc/runtime/tail_predictor.h"

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
  //
  // Within a Run, it is left for that one instead: a thread pool whose queue is
  // full runs what it is given at once, in the stack of whoever gives it. With
  // `nesting` it may still run at once, that many levels deep: for work that
  // the current piece may wait for.
  static void Run(Work work, int nesting = 0) {
    State& state = StateOfThread();
    if (state.depth > nesting) {
      state.later.push_back(std::move(work));
      return;
    }
    const bool in_scope = std::exchange(state.in_scope, false);
    Work next = std::exchange(state.next, nullptr);
    const std::optional<Tail> tail = std::exchange(state.tail, std::nullopt);
    const std::type_info* type = state.type;
    ++state.depth;
    for (; work != nullptr; work = TakeFrom(&state)) {
      state.type = &work.target_type();
      work();
      EndTail(&state);
    }
    --state.depth;
    state.type = type;
    state.tail = tail;
    state.next = std::move(next);
    state.in_scope = in_scope;
  }

  // Leaves `work` for the Run that this thread is in. Returns what another
  // thread has to run instead: the piece that was left before, `work` itself
  // outside of any Run, or null if there is nothing.
  [[nodiscard]] static Work Leave(Work work) {
    State& state = StateOfThread();
    if (state.depth == 0) return work;
    return std::exchange(state.next, std::move(work));
  }

  // Teaches `predictor` how long the current piece goes on from here, or until
  // it says so again.
  static void MeasureTail(TailPredictor predictor) {
    State& state = StateOfThread();
    if (state.depth == 0) return;
    EndTail(&state);
    state.tail = Tail{predictor, Clock::now()};
  }

  // While one lives, what its thread schedules should be left: it is the start
  // of a call, or what comes after one, with which the current piece is done.
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

  // Returns the type of the piece that this thread runs, or null.
  static const std::type_info* TypeOfPiece() { return StateOfThread().type; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Tail {
    TailPredictor predictor;
    Clock::time_point start;
  };

  struct State {
    int depth = 0;
    bool in_scope = false;
    const std::type_info* type = nullptr;
    std::optional<Tail> tail;
    Work next;
    // What came from a full pool.
    std::vector<Work> later;
  };

  static Work TakeFrom(State* state) {
    if (state->next != nullptr) return std::exchange(state->next, nullptr);
    if (state->depth > 1 || state->later.empty()) return nullptr;
    Work work = std::move(state->later.back());
    state->later.pop_back();
    return work;
  }

  static void EndTail(State* state) {
    if (!state->tail.has_value()) return;
    state->tail->predictor.Learn(Clock::now() - state->tail->start);
    state->tail.reset();
  }

  static State& StateOfThread() {
    static thread_local State state;
    return state;
  }
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_LOCAL_WORK_H_
