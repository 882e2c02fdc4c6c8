#ifndef RECURSIVE_TF_CC_BATCHING_FLOW_TABLE_H_
#define RECURSIVE_TF_CC_BATCHING_FLOW_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// An invocation of a flow (flow.h). Its cells stand behind it in the table, and
// behind them its results.
struct FlowInvocation {
  explicit FlowInvocation(int32_t id) : id(id) {}

  ValueRow* cells() { return reinterpret_cast<ValueRow*>(this + 1); }
  const ValueRow* cells() const {
    return reinterpret_cast<const ValueRow*>(this + 1);
  }

  int32_t id;
  int32_t stage = 0;
  // How many of the stage's calls have not returned.
  int32_t num_pending = 0;
  int32_t call_depth = 1;
  // Who asked first, if it was not the root call, and where.
  FlowInvocation* parent = nullptr;
  int32_t site = 0;
  int32_t row = 0;
  Progress progress;
  ValueRow decided_by;
  // If it is not shared: who it called that ended, as a list, whose places are
  // free when it ends; and the next one in its caller's list.
  FlowInvocation* first_ended = nullptr;
  FlowInvocation* next_ended = nullptr;
};

// The invocations of a flow, each with its cells and its results. They stand in
// chunks: none moves when there are more of them.
class FlowTable {
 public:
  FlowTable(int32_t num_cells, size_t num_results)
      : num_cells_(num_cells),
        num_bytes_each_(sizeof(FlowInvocation) +
                        (num_cells + num_results) * sizeof(ValueRow)) {}

  // Returns a new invocation, whose cells are not set.
  FlowInvocation* Add() {
    if (!free_.empty()) return AddAtFree();
    if (size_ % kChunk == 0) {
      chunks_.push_back(
          Chunk(FromPool<std::byte>().allocate(kChunk * num_bytes_each_)));
    }
    const int32_t id = size_++;
    return new (PlaceOf(id)) FlowInvocation(id);
  }

  // Says that an invocation ended and that nobody reads of those that it
  // called: their places are free.
  void FreeCallees(const FlowInvocation& ended) {
    if (ended.first_ended != nullptr) free_.push_back(ended.first_ended);
  }

  FlowInvocation* operator[](int32_t id) const {
    return reinterpret_cast<FlowInvocation*>(PlaceOf(id));
  }

  ValueRow& result(FlowInvocation* invocation, size_t index) const {
    return invocation->cells()[num_cells_ + index];
  }
  ValueRow result(int32_t id, size_t index) const {
    return (*this)[id]->cells()[num_cells_ + index];
  }

  // Says that an invocation is needed soon, if there is one.
  static void Prefetch(const FlowInvocation* invocation) {
    if (invocation == nullptr) return;
    __builtin_prefetch(invocation);
    __builtin_prefetch(invocation + 1);
  }
  // Says that what an invocation gave is needed soon; none is a negative
  // number.
  void PrefetchResults(int32_t id) const {
    if (id < 0) return;
    __builtin_prefetch((*this)[id]->cells() + num_cells_);
  }

  // Of all that there were at once.
  int64_t num_bytes() const {
    return static_cast<int64_t>(size_ * num_bytes_each_);
  }

 private:
  static constexpr int32_t kChunk = 256;

  struct GiveBack {
    void operator()(std::byte* memory) const {
      FromPool<std::byte>().deallocate(memory, 0);
    }
  };
  using Chunk = std::unique_ptr<std::byte, GiveBack>;
  // Nothing is done for invocations and cells when their memory goes.
  static_assert(std::is_trivially_destructible_v<FlowInvocation> &&
                std::is_trivially_destructible_v<ValueRow> &&
                sizeof(FlowInvocation) % alignof(ValueRow) == 0 &&
                sizeof(ValueRow) % alignof(FlowInvocation) == 0);

  std::byte* PlaceOf(int32_t id) const {
    const auto place = static_cast<uint32_t>(id);
    return chunks_[place / kChunk].get() + place % kChunk * num_bytes_each_;
  }

  FlowInvocation* AddAtFree() {
    FlowInvocation* const place = free_.back();
    free_.back() = place->next_ended;
    if (free_.back() == nullptr) free_.pop_back();
    return new (place) FlowInvocation(place->id);
  }

  const size_t num_cells_;
  const size_t num_bytes_each_;
  std::vector<Chunk> chunks_;
  int32_t size_ = 0;
  // Places that are free, as lists of callees, none of which is empty.
  std::vector<FlowInvocation*> free_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_FLOW_TABLE_H_
