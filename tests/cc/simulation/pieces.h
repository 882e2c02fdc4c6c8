#ifndef TESTS_CC_SIMULATION_PIECES_H_
#define TESTS_CC_SIMULATION_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "recursive_tf/cc/runtime/local_work.h"

namespace recursive_tf {

// A pool whose threads take turns, a piece each: which piece is the next one, a
// seed says. As in TensorFlow's a piece may also run at once, in the stack of
// whoever gives it away, because the queue is full.
class Pieces {
 public:
  explicit Pieces(uint64_t seed) : random_(seed) {}

  void Add(std::function<void()> piece) {
    // What is left for the thread is the one that came last.
    if (DrawOneIn(2)) piece = LocalWork::Leave(std::move(piece));
    if (piece == nullptr) return;
    if (DrawOneIn(16)) {
      LocalWork::Run(std::move(piece));
    } else {
      pieces_.push_back(std::move(piece));
    }
  }

  // Runs pieces until there are none. `between` is called after each.
  void RunAll(const std::function<void()>& between = [] {}) {
    while (!pieces_.empty()) {
      std::swap(pieces_[Draw(pieces_.size())], pieces_.back());
      std::function<void()> piece = std::move(pieces_.back());
      pieces_.pop_back();
      LocalWork::Run(std::move(piece));
      between();
    }
  }

  uint64_t Draw(uint64_t bound) { return random_() % bound; }
  bool DrawOneIn(uint64_t bound) { return Draw(bound) == 0; }

 private:
  std::mt19937_64 random_;
  std::vector<std::function<void()>> pieces_;
};

}  // namespace recursive_tf

#endif  // TESTS_CC_SIMULATION_PIECES_H_
