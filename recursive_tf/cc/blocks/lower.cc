#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"

namespace recursive_tf {

bool operator<(const Place& a, const Place& b) {
  return std::tie(a.kind, a.index, a.column, a.is_one_column) <
         std::tie(b.kind, b.index, b.column, b.is_one_column);
}

namespace {

bool IsSum(NodeKind kind) {
  return kind == NodeKind::kOuter || kind == NodeKind::kColumnSums;
}

bool IsComputed(NodeKind kind) {
  return kind == NodeKind::kElementwise || kind == NodeKind::kReduction;
}

// A value of a graph that is computed: when, and how.
struct Schedule {
  // Phases of one level depend on those of lower ones.
  int32_t level = 0;
  // The width of the phase. A value with one column has it in all.
  int64_t phase_width = 0;
  bool is_filled = false;
  // Where it stands for other phases, if these want it.
  std::optional<Place> memory;
  // Of a product: how many segments a strip of it has; 0 if it goes to memory.
  int64_t num_segments = 0;
};

using PhaseKey = std::pair<int32_t, int64_t>;

class Lowerer {
 public:
  explicit Lowerer(const BlockGraph& graph)
      : graph_(graph), schedules_(graph.size()), users_(graph.size()) {}

  std::optional<BlockProgram> Run() {
    FindUsers();
    for (int32_t id = 0; id < graph_.size(); ++id) {
      if (graph_[id].kind == NodeKind::kProduct) FindSegments(id);
    }
    for (int32_t id = 0; id < graph_.size(); ++id) FindLevel(id);
    FindMemory();
    if (!is_provided_for_) return std::nullopt;
    for (int32_t id = 0; id < graph_.size(); ++id) Emit(id);
    for (const Copy& copy : copies_) EmitCopy(copy);
    for (auto& [key, phase] : phases_) {
      AllocateRegisters(&phase);
      program_.phases.push_back(std::move(phase));
    }
    return std::move(program_);
  }

 private:
  // A value that also has to stand elsewhere.
  struct Copy {
    int32_t id;
    Place to;
  };

  void FindUsers() {
    for (int32_t id = 0; id < graph_.size(); ++id) {
      for (const int32_t operand : graph_[id].operands) {
        users_[operand].push_back(id);
      }
    }
  }

  bool IsOutput(int32_t id) const {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) !=
           graph_.outputs.end();
  }

  // Whether all that read a value compute, column by column, with its columns.
  bool IsOnlyComputedWith(int32_t id) const {
    return !IsOutput(id) &&
           std::all_of(users_[id].begin(), users_[id].end(), [&](int32_t user) {
             const Node& node = graph_[user];
             return IsComputed(node.kind) &&
                    (node.width == graph_[id].width ||
                     node.kind == NodeKind::kReduction);
           });
  }

  void FindSegments(int32_t id) {
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

  void FindLevel(int32_t id) {
    const Node& node = graph_[id];
    Schedule& schedule = schedules_[id];
    switch (node.kind) {
      case NodeKind::kProduct:
        schedule.level = MemoryLevel(node.operands[0]);
        schedule.phase_width =
            node.width / std::max<int64_t>(schedule.num_segments, 1);
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

  // What has one column is computed beside what it comes from, in all columns.
  void FindFilled(const Node& node, Schedule* schedule) const {
    for (const int32_t operand : node.operands) {
      const Schedule& of = schedules_[operand];
      if (!IsComputed(graph_[operand].kind) || !of.is_filled) continue;
      schedule->phase_width = of.phase_width;
      schedule->is_filled = true;
      return;
    }
  }

  // Returns from which level on a phase of that width can read a value.
  int32_t LevelFor(int32_t id, int64_t width) const {
    return IsBeside(id, width) ? schedules_[SegmentOwner(id)].level
                               : MemoryLevel(id);
  }

  // Returns the product that a value is a segment of, or the value.
  int32_t SegmentOwner(int32_t id) const {
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
  bool IsBeside(int32_t id, int64_t width) const {
    const int32_t owner = SegmentOwner(id);
    const NodeKind kind = graph_[owner].kind;
    return (IsComputed(kind) || kind == NodeKind::kProduct) &&
           schedules_[owner].phase_width == width;
  }

  // Returns from which level on all of a value is in memory.
  int32_t MemoryLevel(int32_t id) const {
    const Node& node = graph_[id];
    if (IsComputed(node.kind) || node.kind == NodeKind::kProduct) {
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

  // ---- Memory.

  void FindMemory() {
    for (int32_t id = 0; id < graph_.size(); ++id) {
      if (graph_[id].kind == NodeKind::kConcat && IsReadWhole(id)) Join(id);
    }
    for (const int32_t output : graph_.outputs) {
      program_.output_buffers.push_back(PlaceOutput(output));
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
  bool IsReadWhole(int32_t id) const {
    return IsOutput(id) ||
           std::any_of(users_[id].begin(), users_[id].end(), [&](int32_t user) {
             const NodeKind kind = graph_[user].kind;
             return kind != NodeKind::kProduct && !IsSum(kind);
           });
  }

  void Join(int32_t id) {
    const int32_t buffer = AddBuffer(graph_[id].width);
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
  bool CanStandAnywhere(int32_t id) const {
    const Schedule& schedule = schedules_[id];
    const NodeKind kind = graph_[id].kind;
    return !schedule.memory.has_value() && !schedule.is_filled &&
           (IsComputed(kind) ||
            (kind == NodeKind::kProduct && schedule.num_segments == 0));
  }

  std::optional<int32_t> PlaceOutput(int32_t id) {
    const Node& node = graph_[id];
    if (IsSum(node.kind)) return std::nullopt;
    if (CanStandAnywhere(id)) {
      PutIntoMemory(id);
      return schedules_[id].memory.value_or(Place()).index;
    }
    const std::optional<Place>& memory = schedules_[id].memory;
    if (memory.has_value() && memory->column == 0 &&
        program_.buffers[memory->index] == node.width) {
      return memory->index;
    }
    const int32_t buffer = AddBuffer(node.width);
    const Place place = {Place::Kind::kBuffer, buffer, 0};
    copies_.push_back({id, place});
    return buffer;
  }

  bool NeedsMemory(const Node& user, int32_t id, int32_t operand) const {
    if (user.kind == NodeKind::kProduct || IsSum(user.kind)) return true;
    // What is read of slices and joined values, their readers say.
    if (!IsComputed(user.kind)) return false;
    return !IsHere(operand, KeyOf(id));
  }

  void PutIntoMemory(int32_t id) {
    const Node& node = graph_[id];
    if (schedules_[id].memory.has_value()) return;
    if (schedules_[id].num_segments > 1) {
      is_provided_for_ = false;
      return;
    }
    schedules_[id].num_segments = 0;
    if (IsComputed(node.kind) || node.kind == NodeKind::kProduct) {
      const int32_t buffer = AddBuffer(node.width);
      const Place place = {Place::Kind::kBuffer, buffer, 0};
      schedules_[id].memory = place;
      if (schedules_[id].is_filled) copies_.push_back({id, place});
      return;
    }
    for (const int32_t operand : node.operands) PutIntoMemory(operand);
  }

  int32_t AddBuffer(int64_t width) {
    program_.buffers.push_back(width);
    return static_cast<int32_t>(program_.buffers.size()) - 1;
  }

  // ---- Phases.

  PhaseKey KeyOf(int32_t id) const {
    return {schedules_[id].level, schedules_[id].phase_width};
  }

  // Returns whether a phase itself computes a value, in its columns.
  bool IsHere(int32_t id, const PhaseKey& key) const {
    const int32_t owner = SegmentOwner(id);
    return IsBeside(id, key.second) && schedules_[owner].level == key.first;
  }

  Phase& PhaseAt(const PhaseKey& key) {
    Phase& phase = phases_[key];
    phase.width = key.second;
    return phase;
  }

  void Emit(int32_t id) {
    const Node& node = graph_[id];
    if (node.kind == NodeKind::kProduct) return EmitProduct(id);
    if (IsSum(node.kind)) return EmitSum(id);
    if (!IsComputed(node.kind)) return;
    const PhaseKey key = KeyOf(id);
    Phase& phase = PhaseAt(key);
    Instruction instruction;
    instruction.opcode = node.opcode;
    instruction.is_reduction = node.kind == NodeKind::kReduction;
    instruction.reduction = node.reduction;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      instruction.in[i] = Read(node.operands[i], key);
    }
    phase.needs_whole_rows |= instruction.is_reduction;
    const std::optional<Place>& memory = schedules_[id].memory;
    const bool is_kept = memory.has_value() && !schedules_[id].is_filled;
    const Place place = is_kept ? *memory : NewRegister(&phase);
    instruction.out = PlaceIn(&phase, place);
    here_[{key, id}] = instruction.out;
    phase.code.push_back(instruction);
  }

  void EmitProduct(int32_t id) {
    const Node& node = graph_[id];
    const Schedule& schedule = schedules_[id];
    Phase& phase = PhaseAt(KeyOf(id));
    ProductStep step;
    AddPieces(node.operands[0], 0, graph_[node.operands[0]].width,
              &step.pieces);
    MatrixUse use;
    use.invariant = node.index;
    use.is_transposed = node.is_transposed;
    use.depth = graph_[node.operands[0]].width;
    use.num_segments = std::max<int64_t>(schedule.num_segments, 1);
    use.segment_width = schedule.phase_width;
    step.matrix = static_cast<int32_t>(program_.matrices.size());
    program_.matrices.push_back(use);
    step.out = schedule.memory;
    segments_[id] = static_cast<int32_t>(phase.products.size());
    phase.products.push_back(std::move(step));
  }

  void EmitSum(int32_t id) {
    const Node& node = graph_[id];
    SumStep step;
    const int32_t right = node.operands.back();
    AddPieces(right, 0, graph_[right].width, &step.right);
    if (node.kind == NodeKind::kOuter) {
      const int32_t left = node.operands.front();
      AddPieces(left, 0, graph_[left].width, &step.left);
    }
    // Each output that is this sum has numbers of its own.
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (graph_.outputs[i] != id) continue;
      step.output = static_cast<int32_t>(i);
      program_.sums.push_back(step);
    }
  }

  void EmitCopy(const Copy& copy) {
    const int32_t owner = SegmentOwner(copy.id);
    const NodeKind kind = graph_[owner].kind;
    const bool is_made = IsComputed(kind) || kind == NodeKind::kProduct;
    const PhaseKey key =
        is_made ? KeyOf(owner)
                : PhaseKey{MemoryLevel(copy.id), graph_[copy.id].width};
    Phase& phase = PhaseAt(key);
    Instruction instruction;
    instruction.narrows = is_made && schedules_[owner].is_filled;
    instruction.in[0] = Read(copy.id, key);
    Place to = copy.to;
    to.is_one_column = instruction.narrows;
    instruction.out = PlaceIn(&phase, to);
    phase.code.push_back(instruction);
  }

  // Returns the number of a value among the places of a phase.
  int32_t Read(int32_t id, const PhaseKey& key) {
    Phase& phase = PhaseAt(key);
    const Node& node = graph_[id];
    if (node.kind == NodeKind::kConstant) {
      program_.widest_constant = std::max(program_.widest_constant, key.second);
      return PlaceIn(&phase, ConstantPlace(node.value));
    }
    if (IsHere(id, key)) {
      const int32_t owner = SegmentOwner(id);
      if (graph_[owner].kind != NodeKind::kProduct) return here_[{key, id}];
      if (schedules_[owner].num_segments > 0) {
        const int64_t segment = owner == id ? 0 : node.offset / node.width;
        return PlaceIn(&phase,
                       {Place::Kind::kSegment, segments_[owner], segment});
      }
    }
    if (node.width != 1 || key.second == 1) {
      return PlaceIn(&phase, PlaceOf(id, key.second));
    }
    if (node.kind == NodeKind::kShared) {
      return PlaceIn(&phase, SharedPlace(node.index, key.second));
    }
    Place column = PlaceOf(id, 1);
    column.is_one_column = true;
    const auto known = spread_.find({key, column});
    if (known != spread_.end()) return known->second;
    Instruction instruction;
    instruction.spreads = true;
    instruction.in[0] = PlaceIn(&phase, column);
    instruction.out = PlaceIn(&phase, NewRegister(&phase));
    phase.code.push_back(instruction);
    return spread_[{key, column}] = instruction.out;
  }

  // Returns where all of a value stands, of which a slice is read.
  Place PlaceOf(int32_t id, int64_t width) {
    const Node& node = graph_[id];
    switch (node.kind) {
      case NodeKind::kInput:
        return {Place::Kind::kInput, node.index, 0};
      case NodeKind::kShared:
        return SharedPlace(node.index, std::max(node.width, width));
      case NodeKind::kSlice: {
        Place place = PlaceOf(node.operands[0], 0);
        place.column += node.offset;
        return place;
      }
      default:
        return schedules_[id].memory.value_or(Place());
    }
  }

  // Adds the pieces that columns of a value consist of.
  void AddPieces(int32_t id, int64_t offset, int64_t width,
                 std::vector<Piece>* pieces) {
    const Node& node = graph_[id];
    if (node.kind == NodeKind::kSlice) {
      return AddPieces(node.operands[0], node.offset + offset, width, pieces);
    }
    if (node.kind == NodeKind::kConstant) {
      program_.widest_constant = std::max(program_.widest_constant, width);
      pieces->push_back({ConstantPlace(node.value), width});
      return;
    }
    if (node.kind != NodeKind::kConcat || schedules_[id].memory.has_value()) {
      Place place = PlaceOf(id, node.width);
      place.column += offset;
      pieces->push_back({place, width});
      return;
    }
    int64_t begin = 0;
    for (const int32_t operand : node.operands) {
      const int64_t end = begin + graph_[operand].width;
      const int64_t from = std::max(begin, offset);
      const int64_t to = std::min(end, offset + width);
      if (from < to) AddPieces(operand, from - begin, to - from, pieces);
      begin = end;
    }
  }

  Place SharedPlace(int32_t invariant, int64_t width) {
    std::vector<SharedUse>& all = program_.shared;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].invariant == invariant && all[i].width == width) {
        return {Place::Kind::kShared, static_cast<int32_t>(i), 0};
      }
    }
    all.push_back({invariant, width});
    return {Place::Kind::kShared, static_cast<int32_t>(all.size()) - 1, 0};
  }

  Place ConstantPlace(double value) {
    std::vector<double>& all = program_.constants;
    const auto known = std::find_if(
        all.begin(), all.end(),
        [&](double constant) { return BitsOf(constant) == BitsOf(value); });
    const auto index = static_cast<int32_t>(known - all.begin());
    if (known == all.end()) all.push_back(value);
    return {Place::Kind::kConstant, index, 0};
  }

  static Place NewRegister(Phase* phase) {
    return {Place::Kind::kRegister, phase->num_registers++, 0};
  }

  static int32_t PlaceIn(Phase* phase, const Place& place) {
    for (size_t i = 0; i < phase->places.size(); ++i) {
      const Place& known = phase->places[i];
      if (!(known < place) && !(place < known)) return static_cast<int32_t>(i);
    }
    phase->places.push_back(place);
    return static_cast<int32_t>(phase->places.size()) - 1;
  }

  // Lets registers that nobody reads any more be written again.
  static void AllocateRegisters(Phase* phase) {
    std::vector<int64_t> last_read(phase->places.size(), -1);
    const auto num_instructions = static_cast<int64_t>(phase->code.size());
    for (int64_t i = 0; i < num_instructions; ++i) {
      for (const int32_t place : phase->code[i].in) last_read[place] = i;
    }
    std::vector<int32_t> free;
    int32_t num_registers = 0;
    std::vector<Place> places = phase->places;
    for (int64_t i = 0; i < num_instructions; ++i) {
      const Instruction& instruction = phase->code[i];
      std::vector<int32_t> read(std::begin(instruction.in),
                                std::end(instruction.in));
      std::sort(read.begin(), read.end());
      read.erase(std::unique(read.begin(), read.end()), read.end());
      for (const int32_t place : read) {
        if (phase->places[place].kind == Place::Kind::kRegister &&
            last_read[place] == i) {
          free.push_back(places[place].index);
        }
      }
      Place& out = places[instruction.out];
      if (out.kind != Place::Kind::kRegister) continue;
      if (free.empty()) free.push_back(num_registers++);
      out.index = free.back();
      free.pop_back();
      if (last_read[instruction.out] < i) free.push_back(out.index);
    }
    phase->places = std::move(places);
    phase->num_registers = num_registers;
  }

  const BlockGraph& graph_;
  BlockProgram program_;
  std::vector<Schedule> schedules_;
  std::vector<std::vector<int32_t>> users_;
  std::vector<Copy> copies_;
  std::map<PhaseKey, Phase> phases_;
  // By phase and value: its number among the phase's places.
  std::map<std::pair<PhaseKey, int32_t>, int32_t> here_;
  std::map<std::pair<PhaseKey, Place>, int32_t> spread_;
  // By product: its number in its phase.
  std::map<int32_t, int32_t> segments_;
  bool is_provided_for_ = true;
};

}  // namespace

std::optional<BlockProgram> Lower(const BlockGraph& graph) {
  return Lowerer(graph).Run();
}

}  // namespace recursive_tf
