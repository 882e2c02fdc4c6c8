#ifndef RECURSIVE_TF_CC_BLOCKS_PLACEMENT_H_
#define RECURSIVE_TF_CC_BLOCKS_PLACEMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/block_program.h"

namespace recursive_tf {

// Which phase of a program: phases of one level depend on those of lower ones.
struct PhaseKey {
  friend bool operator<(const PhaseKey& a, const PhaseKey& b) {
    return std::tie(a.level, a.axis, a.width, a.alone) <
           std::tie(b.level, b.axis, b.width, b.alone);
  }

  int32_t level = 0;
  // Of its values.
  int32_t axis = 0;
  int64_t width = 0;
  // A value that has a phase of its own; -1 in all others.
  int32_t alone = -1;
};

// Says of a block's values when each is computed, and where it stands.
class Placement {
 public:
  // A value that also has to stand elsewhere.
  struct Copy {
    int32_t id;
    Place to;
  };

  // `graph` must outlive this.
  explicit Placement(const BlockGraph* graph);

  // The phase that computes a value.
  PhaseKey KeyOf(int32_t id) const;
  // The phase that copies a value to where it also has to stand.
  PhaseKey KeyOf(const Copy& copy) const;
  // Returns whether a phase itself computes a value, in its columns.
  bool IsHere(int32_t id, const PhaseKey& key) const;
  // Returns the product that a value is a segment of, or the value.
  int32_t SegmentOwner(int32_t id) const;
  // Returns from which level on all of a value is in memory.
  int32_t MemoryLevel(int32_t id) const;

  // Whether a value with one column has it in all columns of its phase.
  bool IsFilled(int32_t id) const { return schedules_[id].is_filled; }
  // Of a product: how many segments a strip of it has; 0 if it goes to memory.
  int64_t NumSegments(int32_t id) const { return schedules_[id].num_segments; }
  // Where it stands for other phases, if these want it.
  const std::optional<Place>& MemoryOf(int32_t id) const {
    return schedules_[id].memory;
  }

  // As BlockProgram's.
  const std::vector<BufferUse>& buffers() const { return buffers_; }
  const std::vector<std::optional<int32_t>>& output_buffers() const {
    return output_buffers_;
  }
  const std::vector<Copy>& copies() const { return copies_; }

 private:
  // A value that is computed: when, and how.
  struct Schedule {
    int32_t level = 0;
    // A value with one column has it in all.
    int64_t phase_width = 0;
    bool is_filled = false;
    std::optional<Place> memory;
    int64_t num_segments = 0;
  };

  // Places all values; those of `whole` are products that are not cut.
  void PlaceAll(const std::set<int32_t>& whole);
  void FindUsers();
  bool IsOutput(int32_t id) const;
  bool IsOnlyComputedWith(int32_t id) const;
  void FindSegments(int32_t id);
  void FindLevel(int32_t id);
  void DelayLevels();
  std::vector<int32_t> LatestLevels() const;
  std::vector<int32_t> ReadersOf(int32_t id) const;
  void FindFilled(const Node& node, Schedule* schedule) const;
  int32_t LevelFor(int32_t id, int64_t width) const;
  bool IsBeside(int32_t id, int64_t width) const;

  void FindMemory();
  bool IsReadWhole(int32_t id) const;
  void Join(int32_t id);
  bool CanStandAnywhere(int32_t id) const;
  std::optional<int32_t> PlaceOutput(int32_t id);
  bool NeedsMemory(const Node& user, int32_t id, int32_t operand) const;
  void PutIntoMemory(int32_t id);
  int32_t AddBuffer(int32_t id);

  const BlockGraph& graph_;
  std::vector<Schedule> schedules_;
  std::vector<std::vector<int32_t>> users_;
  std::vector<BufferUse> buffers_;
  std::vector<std::optional<int32_t>> output_buffers_;
  std::vector<Copy> copies_;
  // Products whose segments somebody reads in another phase.
  std::set<int32_t> cut_in_vain_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_PLACEMENT_H_
