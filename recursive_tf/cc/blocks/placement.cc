#include "recursive_tf/cc/blocks/placement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/block_program.h"

namespace recursive_tf {

namespace {

// Whether a value has a phase of its own.
bool IsAlone(NodeKind kind) {
  return kind == NodeKind::kRowProduct || kind == NodeKind::kOfItems ||
         kind == NodeKind::kLookUp;
}

// Whether a phase gives a value.
bool IsMade(NodeKind kind) {
  return IsComputed(kind) || kind == NodeKind::kProduct || IsAlone(kind);
}

// Whether who is of that kind reads all of its operands in memory.
bool TakesMemory(NodeKind kind) {
  return kind == NodeKind::kProduct || IsAlone(kind) || IsSum(kind);
}

}  // namespace

Placement::Placement(const BlockGraph* graph)
    : graph_(*graph), users_(graph->size()) {
  FindUsers();
  // What was cut for readers of another phase is not cut.
  std::set<int32_t> whole;
  do {
    whole.merge(cut_in_vain_);
    PlaceAll(whole);
  } while (!cut_in_vain_.empty());
}

void Placement::PlaceAll(const std::set<int32_t>& whole) {
  schedules_.assign(graph_.size(), {});
  buffers_.clear();
  output_buffers_.clear();
  copies_.clear();
  cut_in_vain_.clear();
  for (int32_t id = 0; id < graph_.size(); ++id) {
    const bool is_product = graph_[id].kind == NodeKind::kProduct;
    if (is_product && whole.count(id) == 0) FindSegments(id);
  }
  for (int32_t id = 0; id < graph_.size(); ++id) FindLevel(id);
  DelayLevels();
  FindMemory();
}

void Placement::FindUsers() {
  for (int32_t id = 0; id < graph_.size(); ++id) {
    for (const int32_t operand : graph_[id].operands) {
      users_[operand].push_back(id);
    }
  }
}

bool Placement::IsOutput(int32_t id) const {
  return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) !=
         graph_.outputs.end();
}

// Whether all that read a value compute, column by column, with its columns.
bool Placement::IsOnlyComputedWith(int32_t id) const {
  return !IsOutput(id) &&
         std::all_of(users_[id].begin(), users_[id].end(), [&](int32_t user) {
           const Node& node = graph_[user];
           return IsComputed(node.kind) && (node.width == graph_[id].width ||
                                            node.kind == NodeKind::kReduction);
         });
}

void Placement::FindSegments(int32_t id) {
  int64_t& num_segments = schedules_[id].num_segments;
  const int64_t width = graph_[id].width;
  if (IsOnlyComputedWith(id)) {
    num_segments = 1;
    return;
  }
  if (IsOutput(id) || users_[id].empty()) return;
  const int64_t segment = graph_[users_[id][0]].width;
  const bool is_cut =
      std::all_of(users_[id].begin(), users_[id].end(), [&](int32_t user) {
        const Node& node = graph_[user];
        return node.kind == NodeKind::kSlice && node.width == segment &&
               node.offset % segment == 0 && IsOnlyComputedWith(user);
      });
  if (is_cut && width % segment == 0) num_segments = width / segment;
}

void Placement::FindLevel(int32_t id) {
  const Node& node = graph_[id];
  Schedule& schedule = schedules_[id];
  schedule.level = 0;
  switch (node.kind) {
    case NodeKind::kProduct:
      schedule.level = MemoryLevel(node.operands[0]);
      schedule.phase_width =
          node.width / std::max<int64_t>(schedule.num_segments, 1);
      return;
    case NodeKind::kRowProduct:
    case NodeKind::kOfItems:
    case NodeKind::kLookUp:
      for (const int32_t operand : node.operands) {
        schedule.level = std::max(schedule.level, MemoryLevel(operand));
      }
      schedule.phase_width = node.width;
      return;
    case NodeKind::kReduction:
      schedule.phase_width = graph_[node.operands[0]].width;
      schedule.is_filled = true;
      break;
    case NodeKind::kElementwise:
      schedule.phase_width = node.width;
      if (node.width == 1) FindFilled(node, &schedule);
      break;
    default:
      return;
  }
  for (const int32_t operand : node.operands) {
    schedule.level =
        std::max(schedule.level, LevelFor(operand, schedule.phase_width));
  }
}

// Finds levels once more, now that it is known who reads what and when: what
// does not follow from something else of its phase waits for those who read it,
// so that it need not stand in memory until then.
void Placement::DelayLevels() {
  const std::vector<int32_t> latest = LatestLevels();
  for (int32_t id = 0; id < graph_.size(); ++id) {
    FindLevel(id);
    const Node& node = graph_[id];
    Schedule& schedule = schedules_[id];
    const bool is_first =
        node.kind == NodeKind::kElementwise && !schedule.is_filled &&
        std::none_of(node.operands.begin(), node.operands.end(),
                     [&](int32_t operand) {
                       return IsBeside(operand, schedule.phase_width);
                     });
    if (is_first || schedule.num_segments > 0) {
      schedule.level = std::max(schedule.level, latest[id]);
    }
  }
}

// Returns for each value up to which level all that read it can wait for it.
std::vector<int32_t> Placement::LatestLevels() const {
  std::vector<int32_t> latest(graph_.size());
  for (int32_t id = graph_.size() - 1; id >= 0; --id) {
    latest[id] = schedules_[id].level;
    const std::vector<int32_t> readers = ReadersOf(id);
    const bool can_wait =
        !readers.empty() &&
        std::all_of(readers.begin(), readers.end(), [&](int32_t reader) {
          return IsComputed(graph_[reader].kind) &&
                 IsBeside(id, schedules_[reader].phase_width);
        });
    if (!can_wait) continue;
    latest[id] = latest[readers.front()];
    for (const int32_t reader : readers) {
      latest[id] = std::min(latest[id], latest[reader]);
    }
  }
  return latest;
}

// Returns who reads a value, or a segment of it.
std::vector<int32_t> Placement::ReadersOf(int32_t id) const {
  std::vector<int32_t> readers;
  for (const int32_t user : users_[id]) {
    if (SegmentOwner(user) == user) {
      readers.push_back(user);
    } else {
      readers.insert(readers.end(), users_[user].begin(), users_[user].end());
    }
  }
  return readers;
}

// What has one column is computed beside what it comes from, in all columns.
void Placement::FindFilled(const Node& node, Schedule* schedule) const {
  for (const int32_t operand : node.operands) {
    const Schedule& of = schedules_[operand];
    if (!IsComputed(graph_[operand].kind) || !of.is_filled) continue;
    schedule->phase_width = of.phase_width;
    schedule->is_filled = true;
    return;
  }
}

// Returns from which level on a phase of that width can read a value.
int32_t Placement::LevelFor(int32_t id, int64_t width) const {
  return IsBeside(id, width) ? schedules_[SegmentOwner(id)].level
                             : MemoryLevel(id);
}

// Returns the product that a value is a segment of, or the value.
int32_t Placement::SegmentOwner(int32_t id) const {
  const Node& node = graph_[id];
  if (node.kind != NodeKind::kSlice) return id;
  const int32_t owner = node.operands[0];
  return graph_[owner].kind == NodeKind::kProduct &&
                 schedules_[owner].num_segments > 0
             ? owner
             : id;
}

// Returns whether a value has its columns where a phase of that width, of the
// same level, has its own.
bool Placement::IsBeside(int32_t id, int64_t width) const {
  const int32_t owner = SegmentOwner(id);
  const NodeKind kind = graph_[owner].kind;
  return (IsComputed(kind) || kind == NodeKind::kProduct) &&
         schedules_[owner].phase_width == width;
}

// Returns from which level on all of a value is in memory.
int32_t Placement::MemoryLevel(int32_t id) const {
  const Node& node = graph_[id];
  if (IsMade(node.kind)) {
    return schedules_[id].level + 1;
  }
  int32_t level = 0;
  for (const int32_t operand : node.operands) {
    level = std::max(level, MemoryLevel(operand));
  }
  // Parts that are not computed are copied, one level before.
  const bool is_joined = node.kind == NodeKind::kConcat && IsReadWhole(id);
  return is_joined ? level + 1 : level;
}

void Placement::FindMemory() {
  for (int32_t id = 0; id < graph_.size(); ++id) {
    if (graph_[id].kind == NodeKind::kConcat && IsReadWhole(id)) Join(id);
  }
  for (const int32_t output : graph_.outputs) {
    output_buffers_.push_back(PlaceOutput(output));
  }
  for (size_t i = 0; i < copies_.size(); ++i) {
    const int32_t owner = SegmentOwner(copies_[i].id);
    const bool is_strip =
        IsComputed(graph_[owner].kind) || schedules_[owner].num_segments > 0;
    if (!is_strip) PutIntoMemory(copies_[i].id);
  }
  for (int32_t id = 0; id < graph_.size(); ++id) {
    const Node& node = graph_[id];
    for (const int32_t operand : node.operands) {
      if (NeedsMemory(node, id, operand)) PutIntoMemory(operand);
    }
  }
}

// Returns whether a joined value must stand in one place: all but products
// and sums, which take pieces, want that.
bool Placement::IsReadWhole(int32_t id) const {
  return IsOutput(id) ||
         std::any_of(users_[id].begin(), users_[id].end(), [&](int32_t user) {
           const NodeKind kind = graph_[user].kind;
           return kind != NodeKind::kProduct && !IsSum(kind);
         });
}

void Placement::Join(int32_t id) {
  const int32_t buffer = AddBuffer(id);
  schedules_[id].memory = Place{Place::Kind::kBuffer, buffer, 0};
  int64_t column = 0;
  for (const int32_t operand : graph_[id].operands) {
    const Place place = {Place::Kind::kBuffer, buffer, column};
    if (CanStandAnywhere(operand)) {
      schedules_[operand].memory = place;
    } else {
      copies_.push_back({operand, place});
    }
    column += graph_[operand].width;
  }
}

// Returns whether a value is computed and has no place yet.
bool Placement::CanStandAnywhere(int32_t id) const {
  const Schedule& schedule = schedules_[id];
  const NodeKind kind = graph_[id].kind;
  return !schedule.memory.has_value() && !schedule.is_filled && IsMade(kind) &&
         schedule.num_segments == 0;
}

std::optional<int32_t> Placement::PlaceOutput(int32_t id) {
  const Node& node = graph_[id];
  if (IsSum(node.kind)) return std::nullopt;
  if (CanStandAnywhere(id)) {
    PutIntoMemory(id);
    return schedules_[id].memory.value_or(Place()).index;
  }
  const std::optional<Place>& memory = schedules_[id].memory;
  if (memory.has_value() && memory->column == 0 &&
      buffers_[memory->index].width == node.width) {
    return memory->index;
  }
  const int32_t buffer = AddBuffer(id);
  const Place place = {Place::Kind::kBuffer, buffer, 0};
  copies_.push_back({id, place});
  return buffer;
}

bool Placement::NeedsMemory(const Node& user, int32_t id,
                            int32_t operand) const {
  if (TakesMemory(user.kind)) return true;
  // What is read of slices and joined values, their readers say.
  if (!IsComputed(user.kind)) return false;
  return !IsHere(operand, KeyOf(id));
}

void Placement::PutIntoMemory(int32_t id) {
  const Node& node = graph_[id];
  if (schedules_[id].memory.has_value()) return;
  if (schedules_[id].num_segments > 1) {
    cut_in_vain_.insert(id);
    return;
  }
  schedules_[id].num_segments = 0;
  if (IsMade(node.kind)) {
    const int32_t buffer = AddBuffer(id);
    const Place place = {Place::Kind::kBuffer, buffer, 0};
    schedules_[id].memory = place;
    if (schedules_[id].is_filled) copies_.push_back({id, place});
    return;
  }
  for (const int32_t operand : node.operands) PutIntoMemory(operand);
}

int32_t Placement::AddBuffer(int32_t id) {
  buffers_.push_back({graph_[id].width, graph_.AxisOf(graph_[id].axis)});
  return static_cast<int32_t>(buffers_.size()) - 1;
}

PhaseKey Placement::KeyOf(int32_t id) const {
  const Node& node = graph_[id];
  return {schedules_[id].level, graph_.AxisOf(node.axis),
          schedules_[id].phase_width, IsAlone(node.kind) ? id : -1};
}

PhaseKey Placement::KeyOf(const Copy& copy) const {
  const int32_t owner = SegmentOwner(copy.id);
  const NodeKind kind = graph_[owner].kind;
  if (IsComputed(kind) || kind == NodeKind::kProduct) return KeyOf(owner);
  return {MemoryLevel(copy.id), buffers_[copy.to.index].axis,
          graph_[copy.id].width};
}

// Returns whether a phase itself computes a value, in its columns.
bool Placement::IsHere(int32_t id, const PhaseKey& key) const {
  const int32_t owner = SegmentOwner(id);
  return IsBeside(id, key.width) && schedules_[owner].level == key.level;
}

}  // namespace recursive_tf
