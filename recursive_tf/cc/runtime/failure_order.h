#ifndef RECURSIVE_TF_CC_RUNTIME_FAILURE_ORDER_H_
#define RECURSIVE_TF_CC_RUNTIME_FAILURE_ORDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

// Knows the path of one activation, the mark, and says of others whether they
// come before it in path order: by row, then by call site and ordinal at each
// level, callers first. The mark only ever moves to earlier ones.
//
// An activation of which the mark's path does not lead through the caller
// stands to the mark as that caller does, so what was found of callers is kept:
// who is later than the mark will always be, who is earlier is until it moves.
//
// Invariants:
//   (1) `ids_` are of those on the path, which may have ended; ids are never
//       used again.
//   (2) An activation joins the path at most once: when it leaves the path,
//       everything in it is later than the mark.
//
// Thread safety: none.
//
// Cost: a question costs as many steps as lead up to a caller that is on the
// path or known. What IsEarlier and MoveTo walk is amortized over the
// activations, by (2); what IsKnownToBeLater walks is bounded by their number.
class FailureOrder {
 public:
  // Returns whether `activation` comes before the mark.
  bool IsEarlier(const Activation& activation) {
    const Activation& one = WholeOf(activation);
    switch (Compare(one)) {
      case Order::kEarlier:
        return true;
      case Order::kOnPath:
        return Level(one) + 1 < path_.size();
      case Order::kLater:
        return false;
    }
    return false;
  }

  // Makes `activation` the mark. REQUIRES: it comes before the mark that there
  // is, if there is one.
  void MoveTo(const Activation& activation) {
    const Activation* one = &WholeOf(activation);
    path_.resize(one->depth);
    ids_.resize(one->depth);
    for (; one != nullptr && !IsOnPath(*one); one = CallerOf(*one)) {
      path_[Level(*one)] = PathStep::Of(*one);
      ids_[Level(*one)] = one->id;
    }
    ++num_moves_;
  }

  // Returns whether `activation` comes after the mark, or false if to find out
  // would take more steps than activations pay for that there have been.
  bool IsKnownToBeLater(const Activation& activation) {
    const Activation& one = WholeOf(activation);
    num_activations_ = std::max(num_activations_, one.id);
    const Activation* caller = CallerOf(one);
    const bool is_near =
        caller == nullptr || IsOnPath(*caller) || Find(*caller) != nullptr;
    if (is_near) return Compare(one) == Order::kLater;
    // More than one a call: a chain of calls gets deeper as fast as they come.
    constexpr uint64_t kStepsPerActivation = 4;
    if (num_steps_ + one.depth > kStepsPerActivation * num_activations_) {
      return false;
    }
    const Order order = Compare(one);
    num_steps_ += walked_.size();
    return order == Order::kLater;
  }

  void Forget(const Activation& activation) { known_.erase(activation.id); }

  // The path of the mark, outermost first.
  const std::vector<PathStep>& path() const { return path_; }

 private:
  enum class Order : uint8_t { kEarlier, kOnPath, kLater };

  struct Known {
    Order order;
    // How often the mark had moved.
    uint64_t num_moves;
  };

  // Returns the invocation that an activation is, or is a part of.
  static const Activation& WholeOf(const Activation& activation) {
    const Activation* whole = &activation;
    while (whole->site == kSharedSite) whole = whole->parent;
    return *whole;
  }

  static const Activation* CallerOf(const Activation& whole) {
    return whole.parent == nullptr ? nullptr : &WholeOf(*whole.parent);
  }

  static size_t Level(const Activation& whole) {
    return static_cast<size_t>(whole.depth) - 1;
  }

  bool IsOnPath(const Activation& whole) const {
    return Level(whole) < ids_.size() && ids_[Level(whole)] == whole.id;
  }

  // Returns what is known of an activation, or null.
  const Known* Find(const Activation& whole) const {
    const auto found = known_.find(whole.id);
    if (found == known_.end()) return nullptr;
    const Known& known = found->second;
    const bool holds =
        known.order == Order::kLater || known.num_moves == num_moves_;
    return holds ? &known : nullptr;
  }

  Order Compare(const Activation& whole) {
    walked_.clear();
    Order order = Order::kOnPath;
    for (const Activation* one = &whole; one != nullptr; one = CallerOf(*one)) {
      if (IsOnPath(*one)) break;
      if (const Known* known = Find(*one); known != nullptr) {
        order = known->order;
        break;
      }
      walked_.push_back(one);
    }
    for (size_t i = walked_.size(); i > 0; --i) {
      const Activation& one = *walked_[i - 1];
      if (order == Order::kOnPath) order = CompareStep(one);
      known_[one.id] = {order, num_moves_};
    }
    return order;
  }

  // REQUIRES: the caller stands where the mark's path leads through. Turns of a
  // loop that are not counted have the same step and stand at one place.
  Order CompareStep(const Activation& whole) const {
    if (Level(whole) >= path_.size()) return Order::kLater;
    const PathStep step = PathStep::Of(whole);
    const PathStep& marked = path_[Level(whole)];
    if (step < marked) return Order::kEarlier;
    return marked < step ? Order::kLater : Order::kOnPath;
  }

  // Of the mark, by level.
  std::vector<PathStep> path_;
  std::vector<uint64_t> ids_;
  uint64_t num_moves_ = 0;

  // By id, of those that are alive.
  std::unordered_map<uint64_t, Known> known_;

  // What IsKnownToBeLater saw, by the highest id, and walked.
  uint64_t num_activations_ = 0;
  uint64_t num_steps_ = 0;
  // Of one Compare; here for its memory.
  std::vector<const Activation*> walked_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_FAILURE_ORDER_H_
