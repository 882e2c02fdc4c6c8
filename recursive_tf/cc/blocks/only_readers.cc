#include "recursive_tf/cc/blocks/only_readers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recursive_tf/cc/blocks/block_program.h"

namespace recursive_tf {
namespace {

void AddPlaces(const std::vector<Piece>& pieces, std::vector<Place>* found) {
  for (const Piece& piece : pieces) found->push_back(piece.place);
}

// Adds where a phase reads; and for operands that an instruction lacks, a place
// that it may not read.
void AddPlaces(const Phase& phase, std::vector<Place>* found) {
  for (const ProductStep& step : phase.products) AddPlaces(step.pieces, found);
  for (const Instruction& instruction : phase.code) {
    for (const int32_t place : instruction.in) {
      found->push_back(phase.places[place]);
    }
  }
  if (phase.row_product.has_value()) {
    found->push_back(phase.row_product->left);
    found->push_back(phase.row_product->right);
  }
  if (phase.of_items.has_value()) found->push_back(phase.of_items->items);
  if (phase.look_up.has_value()) found->push_back(phase.look_up->number);
}

std::vector<Place> PlacesRead(const BlockProgram& program) {
  std::vector<Place> found;
  for (const GatherUse& use : program.gathers) found.push_back(use.rows);
  for (const Phase& phase : program.phases) AddPlaces(phase, &found);
  for (const SumStep& step : program.sums) {
    AddPlaces(step.left, &found);
    AddPlaces(step.right, &found);
  }
  return found;
}

// Returns the output that is a buffer; none if there are two.
std::optional<int32_t> OutputOf(const BlockProgram& program, int32_t buffer) {
  std::optional<int32_t> found;
  for (size_t i = 0; i < program.output_buffers.size(); ++i) {
    if (program.output_buffers[i] != buffer) continue;
    if (found.has_value()) return std::nullopt;
    found = static_cast<int32_t>(i);
  }
  return found;
}

}  // namespace

void FindOnlyReaders(BlockProgram* program) {
  const std::vector<Place> read = PlacesRead(*program);
  for (Phase& phase : program->phases) {
    for (ProductStep& step : phase.products) {
      if (!step.out.has_value()) continue;
      const bool is_read =
          std::any_of(read.begin(), read.end(), [&](const Place& place) {
            return place.kind == step.out->kind &&
                   place.index == step.out->index;
          });
      if (!is_read) step.only_of_output = OutputOf(*program, step.out->index);
    }
  }
}

}  // namespace recursive_tf
