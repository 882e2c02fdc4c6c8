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
#include "recursive_tf/cc/blocks/only_readers.h"
#include "recursive_tf/cc/blocks/placement.h"

namespace recursive_tf {

bool operator<(const Place& a, const Place& b) {
  return std::tie(a.kind, a.index, a.column, a.is_one_column) <
         std::tie(b.kind, b.index, b.column, b.is_one_column);
}

bool operator==(const Place& a, const Place& b) { return !(a < b) && !(b < a); }

namespace {

class Lowerer {
 public:
  Lowerer(const BlockGraph& graph, const Placement& placement)
      : graph_(graph), placement_(placement) {
    program_.buffers = placement.buffers();
    program_.output_buffers = placement.output_buffers();
  }

  BlockProgram Run() {
    for (int32_t id = 0; id < graph_.size(); ++id) Emit(id);
    for (const Placement::Copy& copy : placement_.copies()) EmitCopy(copy);
    for (auto& [key, phase] : phases_) {
      AllocateRegisters(&phase);
      program_.phases.push_back(std::move(phase));
    }
    FindOnlyReaders(&program_);
    return std::move(program_);
  }

 private:
  Phase& PhaseAt(const PhaseKey& key) {
    Phase& phase = phases_[key];
    phase.axis = key.axis;
    phase.width = key.width;
    return phase;
  }

  void Emit(int32_t id) {
    const Node& node = graph_[id];
    if (node.kind == NodeKind::kProduct) return EmitProduct(id);
    if (node.kind == NodeKind::kRowProduct) return EmitRowProduct(id);
    if (node.kind == NodeKind::kOfItems) return EmitOfItems(id);
    if (node.kind == NodeKind::kLookUp) return EmitLookUp(id);
    if (IsSum(node.kind)) return EmitSum(id);
    if (!IsComputed(node.kind)) return;
    const PhaseKey key = placement_.KeyOf(id);
    Phase& phase = PhaseAt(key);
    Instruction instruction;
    instruction.opcode = node.opcode;
    instruction.is_reduction = node.kind == NodeKind::kReduction;
    instruction.reduction = node.reduction;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      instruction.in[i] = Read(node.operands[i], key);
    }
    phase.needs_whole_rows |= instruction.is_reduction;
    const std::optional<Place>& memory = placement_.MemoryOf(id);
    const bool is_kept = memory.has_value() && !placement_.IsFilled(id);
    const Place place = is_kept ? *memory : NewRegister(&phase);
    instruction.out = PlaceIn(&phase, place);
    here_[{key, id}] = instruction.out;
    phase.code.push_back(instruction);
  }

  void EmitProduct(int32_t id) {
    const Node& node = graph_[id];
    const PhaseKey key = placement_.KeyOf(id);
    Phase& phase = PhaseAt(key);
    ProductStep step;
    AddPieces(node.operands[0], 0, graph_[node.operands[0]].width,
              &step.pieces);
    MatrixUse use;
    use.invariant = node.index;
    use.is_transposed = node.is_transposed;
    use.depth = graph_[node.operands[0]].width;
    use.num_segments = std::max<int64_t>(placement_.NumSegments(id), 1);
    use.segment_width = key.width;
    step.matrix = static_cast<int32_t>(program_.matrices.size());
    program_.matrices.push_back(use);
    step.out = placement_.MemoryOf(id);
    segments_[id] = static_cast<int32_t>(phase.products.size());
    phase.products.push_back(std::move(step));
  }

  void EmitRowProduct(int32_t id) {
    const Node& node = graph_[id];
    Phase& phase = PhaseAt(placement_.KeyOf(id));
    phase.needs_whole_rows = true;
    phase.row_product = {WholeOf(node.operands[0]), WholeOf(node.operands[1]),
                         placement_.MemoryOf(id).value_or(Place()),
                         node.row_product};
  }

  void EmitOfItems(int32_t id) {
    const Node& node = graph_[id];
    PhaseAt(placement_.KeyOf(id)).of_items = {
        node.reduction, WholeOf(node.operands[0]),
        placement_.MemoryOf(id).value_or(Place()), node.index,
        ItemsAxis(node.index)};
  }

  void EmitLookUp(int32_t id) {
    const Node& node = graph_[id];
    PhaseAt(placement_.KeyOf(id)).look_up = {
        WholeOf(node.operands[0]), placement_.MemoryOf(id).value_or(Place()),
        node.index};
  }

  // Returns where a value stands with all of its columns.
  Place WholeOf(int32_t id) { return PlaceOf(id, graph_[id].width); }

  // Each output that is this sum has numbers of its own.
  void EmitSum(int32_t id) {
    const Node& node = graph_[id];
    const bool is_added = node.kind == NodeKind::kAddedSums;
    const std::vector<int32_t> parts =
        is_added ? node.operands : std::vector<int32_t>{id};
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (graph_.outputs[i] != id) continue;
      for (size_t k = 0; k < parts.size(); ++k) {
        EmitSumTo(static_cast<int32_t>(i), graph_[parts[k]], k > 0);
      }
    }
  }

  void EmitSumTo(int32_t output, const Node& node, bool adds) {
    SumStep step;
    step.output = output;
    step.adds = adds;
    step.axis = graph_.AxisOf(node.axis);
    const int32_t right = node.operands.back();
    AddPieces(right, 0, graph_[right].width, &step.right);
    if (node.kind == NodeKind::kOuter) {
      const int32_t left = node.operands.front();
      AddPieces(left, 0, graph_[left].width, &step.left);
    }
    program_.sums.push_back(step);
  }

  void EmitCopy(const Placement::Copy& copy) {
    const PhaseKey key = placement_.KeyOf(copy);
    Phase& phase = PhaseAt(key);
    Instruction instruction;
    instruction.narrows = placement_.IsFilled(copy.id);
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
      return PlaceIn(&phase, ConstantPlace(node.value, key.width));
    }
    if (placement_.IsHere(id, key)) {
      const int32_t owner = placement_.SegmentOwner(id);
      if (graph_[owner].kind != NodeKind::kProduct) return here_[{key, id}];
      if (placement_.NumSegments(owner) > 0) {
        const int64_t segment = owner == id ? 0 : node.offset / node.width;
        return PlaceIn(&phase,
                       {Place::Kind::kSegment, segments_[owner], segment});
      }
    }
    if (node.width != 1 || key.width == 1) {
      return PlaceIn(&phase, PlaceOf(id, key.width));
    }
    if (node.kind == NodeKind::kShared) {
      return PlaceIn(&phase, SharedPlace(node.index, key.width));
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
      case NodeKind::kConstant:
        return ConstantPlace(node.value, std::max(node.width, width));
      case NodeKind::kShared:
        return SharedPlace(node.index, std::max(node.width, width));
      case NodeKind::kSlice: {
        Place place = PlaceOf(node.operands[0], 0);
        place.column += node.offset;
        return place;
      }
      case NodeKind::kOfOwner:
        return GatheredPlace(WholeOf(node.operands[0]), node.index);
      default:
        return placement_.MemoryOf(id).value_or(Place());
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
      pieces->push_back({ConstantPlace(node.value, width), width});
      return;
    }
    if (node.kind != NodeKind::kConcat || placement_.MemoryOf(id).has_value()) {
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

  Place GatheredPlace(const Place& rows, int32_t owners) {
    std::vector<GatherUse>& all = program_.gathers;
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const GatherUse& use) {
          return use.owners == owners && use.rows == rows;
        });
    const auto index = static_cast<int32_t>(known - all.begin());
    if (known == all.end()) all.push_back({rows, owners, ItemsAxis(owners)});
    return {Place::Kind::kGathered, index, 0};
  }

  int32_t ItemsAxis(int32_t owners) const {
    return graph_.AxisOf(graph_.owners()[owners].items);
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

  Place ConstantPlace(double value, int64_t width) {
    program_.widest_constant = std::max(program_.widest_constant, width);
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
      if (phase->places[i] == place) return static_cast<int32_t>(i);
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
  const Placement& placement_;
  BlockProgram program_;
  std::map<PhaseKey, Phase> phases_;
  // By phase and value: its number among the phase's places.
  std::map<std::pair<PhaseKey, int32_t>, int32_t> here_;
  std::map<std::pair<PhaseKey, Place>, int32_t> spread_;
  // By product: its number in its phase.
  std::map<int32_t, int32_t> segments_;
};

}  // namespace

BlockProgram Lower(const BlockGraph& graph) {
  const Placement placement(&graph);
  return Lowerer(graph, placement).Run();
}

}  // namespace recursive_tf
