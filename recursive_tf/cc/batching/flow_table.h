#ifndef RECURSIVE_TF_CC_BATCHING_FLOW_TABLE_H_
#define RECURSIVE_TF_CC_BATCHING_FLOW_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// An invocation of a flow (flow.h): a line of the cache.
struct FlowInvocation {
  static constexpr int32_t kNone = -1;

  FlowInvocation(int32_t id, ValueRow* cells) : cells(cells), id(id) {}

  // Its cells, and behind them its results.
  ValueRow* cells;
  int32_t id;
  int32_t stage = 0;
  // How many of the stage's calls have not returned.
  int32_t num_pending = 0;
  int32_t call_depth = 1;
  // Who asked first, and where.
  int32_t parent = kNoActivation;
  int32_t site = 0;
  int32_t row = 0;
  Progress progress;
  ValueRow decided_by;
  // If it is not shared: who it called that ended, as a list, whose places are
  // free when it ends; and the next one in its caller's list.
  int32_t first_ended = kNone;
  int32_t next_ended = kNone;
};

// The invocations of a flow, each with its cells and its results. They stand in
// chunks: none moves when there are more of them.
class FlowTable {
 public:
  FlowTable(int32_t num_cells, size_t num_results)
      : num_cells_(num_cells), width_(num_cells + num_results) {}

  // Returns a new invocation.
  FlowInvocation& Add() {
    if (!free_.empty()) return AddAtFree();
    if (size_ % kChunk == 0) chunks_.emplace_back(width_);
    Chunk& chunk = chunks_.back();
    ValueRow* const cells = chunk.rows.data() + PlaceOf(size_) * width_;
    return chunk.invocations.emplace_back(size_++, cells);
  }

  // Says that an invocation ended and that nobody reads of those that it
  // called: their places are free.
  void FreeCallees(const FlowInvocation& ended) {
    const int32_t first = ended.first_ended;
    if (first != FlowInvocation::kNone) free_.push_back(first);
  }

  FlowInvocation& operator[](int32_t id) {
    return chunks_[ChunkOf(id)].invocations[PlaceOf(id)];
  }
  const FlowInvocation& operator[](int32_t id) const {
    return chunks_[ChunkOf(id)].invocations[PlaceOf(id)];
  }

  ValueRow cell(int32_t id, int32_t cell) const {
    return chunks_[ChunkOf(id)].rows[PlaceOf(id) * width_ + cell];
  }

  ValueRow& result(const FlowInvocation& invocation, size_t index) const {
    return invocation.cells[num_cells_ + index];
  }
  ValueRow result(int32_t id, size_t index) const {
    return chunks_[ChunkOf(id)].rows[PlaceOf(id) * width_ + num_cells_ + index];
  }

  // Say that an invocation, or what it gave, is needed soon; none is a negative
  // number.
  void Prefetch(int32_t id) const {
    if (id < 0) return;
    const Chunk& chunk = chunks_[ChunkOf(id)];
    __builtin_prefetch(&chunk.invocations[PlaceOf(id)]);
    __builtin_prefetch(&chunk.rows[PlaceOf(id) * width_]);
  }
  void PrefetchResults(int32_t id) const {
    if (id < 0) return;
    const Chunk& chunk = chunks_[ChunkOf(id)];
    __builtin_prefetch(&chunk.rows[PlaceOf(id) * width_ + num_cells_]);
  }
  // The same of one without its cells. REQUIRES: there is one.
  void PrefetchInvocation(int32_t id) const {
    __builtin_prefetch(&chunks_[ChunkOf(id)].invocations[PlaceOf(id)]);
  }

  // Of all that there were at once.
  int64_t num_bytes() const {
    const size_t each = sizeof(FlowInvocation) + width_ * sizeof(ValueRow);
    return static_cast<int64_t>(size_ * each);
  }

 private:
  static constexpr int32_t kChunk = 256;

  struct Chunk {
    explicit Chunk(size_t width) : rows(kChunk * width) {
      invocations.reserve(kChunk);
    }

    PooledVector<FlowInvocation> invocations;
    PooledVector<ValueRow> rows;
  };

  FlowInvocation& AddAtFree() {
    FlowInvocation& added = (*this)[free_.back()];
    free_.back() = added.next_ended;
    if (free_.back() == FlowInvocation::kNone) free_.pop_back();
    added = FlowInvocation(added.id, added.cells);
    return added;
  }

  static size_t ChunkOf(int32_t id) {
    return static_cast<uint32_t>(id) / kChunk;
  }
  static size_t PlaceOf(int32_t id) {
    return static_cast<uint32_t>(id) % kChunk;
  }

  const size_t num_cells_;
  const size_t width_;
  std::vector<Chunk> chunks_;
  int32_t size_ = 0;
  // Places that are free, as lists of callees, none of which is empty.
  std::vector<int32_t> free_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_FLOW_TABLE_H_
