#ifndef RECURSIVE_TF_CC_BATCHING_FRONTIER_H_
#define RECURSIVE_TF_CC_BATCHING_FRONTIER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace recursive_tf {

constexpr int32_t kEveryDepth = -1;

// Something that waits for a block.
struct Waiting {
  int32_t id = 0;
  // How far what it waited for is.
  int32_t depth = 0;
  // How many calls are around it.
  int32_t call_depth = 1;
};

// The activations that wait for a block, by block and by the depth of what they
// waited for. What waits for one block goes in the order in which it came.
class Frontier {
 public:
  explicit Frontier(int32_t num_blocks) : queues_(num_blocks) {}

  void Add(int32_t block, const Waiting& added) {
    AddAll(block, 1, [&added](size_t /*i*/) { return added; });
  }

  // Adds so many, of which `waiting_at` returns each, in order: with less work
  // than to add them one by one.
  template <typename WaitingAt>
  void AddAll(int32_t block, size_t count, const WaitingAt& waiting_at) {
    Queue& queue = queues_[block];
    int64_t sum_of_depths = 0;
    double urgency = queue.urgency;
    for (size_t i = 0; i < count; ++i) {
      const Waiting added = waiting_at(i);
      // Those that come one after the other are mostly of one depth.
      if (queue.last == nullptr || queue.last_depth != added.depth) {
        queue.last = &IdsAt(added.depth, &queue);
        queue.last_depth = added.depth;
      }
      queue.last->push_back(added.id);
      sum_of_depths += added.depth;
      urgency += Urgency(added.call_depth);
    }
    queue.count += static_cast<int64_t>(count);
    queue.sum_of_depths += sum_of_depths;
    queue.urgency = urgency;
    count_ += static_cast<int64_t>(count);
  }

  // Takes those that wait for `block`, at `depth` or at every depth. They are
  // valid until it is called again.
  const std::vector<int32_t>& Take(int32_t block, int32_t depth) {
    Queue& queue = queues_[block];
    queue.last = nullptr;
    taken_.clear();
    auto at = depth == kEveryDepth ? queue.by_depth.begin()
                                   : queue.by_depth.find(depth);
    while (at != queue.by_depth.end()) {
      const auto count = static_cast<int64_t>(at->second.size());
      queue.count -= count;
      queue.sum_of_depths -= count * at->first;
      count_ -= count;
      taken_.insert(taken_.end(), at->second.begin(), at->second.end());
      at->second.clear();
      spare_.push_back(queue.by_depth.extract(at++));
      if (depth != kEveryDepth) break;
    }
    if (queue.count == 0) queue.urgency = 0;
    return taken_;
  }

  int32_t num_blocks() const { return static_cast<int32_t>(queues_.size()); }
  bool empty() const { return count_ == 0; }
  int64_t count(int32_t block) const { return queues_[block].count; }

  // Returns how many wait for `block`, the more the deeper in calls they are.
  // REQUIRES: never were only some taken.
  double urgency(int32_t block) const { return queues_[block].urgency; }

  // REQUIRES of both: somebody waits for `block`.
  int32_t least_depth(int32_t block) const {
    return queues_[block].by_depth.begin()->first;
  }
  double mean_depth(int32_t block) const {
    return static_cast<double>(queues_[block].sum_of_depths) /
           static_cast<double>(queues_[block].count);
  }

 private:
  using IdsByDepth = std::map<int32_t, std::vector<int32_t>>;

  struct Queue {
    IdsByDepth by_depth;
    // Where the last one was put, at its depth.
    std::vector<int32_t>* last = nullptr;
    int32_t last_depth = 0;
    int64_t count = 0;
    int64_t sum_of_depths = 0;
    double urgency = 0;
  };

  // The fourth power: of those that were tried the one with the fewest launches
  // (docs/policies.md).
  static double Urgency(int32_t call_depth) {
    const double squared = static_cast<double>(call_depth) * call_depth;
    return squared * squared;
  }

  // Returns those that wait at a depth, which may be none yet.
  std::vector<int32_t>& IdsAt(int32_t depth, Queue* queue) {
    const auto found = queue->by_depth.find(depth);
    if (found != queue->by_depth.end()) return found->second;
    if (spare_.empty()) return queue->by_depth[depth];
    spare_.back().key() = depth;
    const auto added = queue->by_depth.insert(std::move(spare_.back()));
    spare_.pop_back();
    return added.position->second;
  }

  std::vector<Queue> queues_;
  int64_t count_ = 0;
  std::vector<int32_t> taken_;
  // Of depths that were taken: their memory is for the next ones.
  std::vector<IdsByDepth::node_type> spare_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_FRONTIER_H_
