#include "recursive_tf/cc/tf/work_ahead.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "recursive_tf/cc/blocks/packing.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/invariants.h"

namespace recursive_tf {
namespace {

using Packings = std::vector<std::shared_ptr<Packing>>;

int64_t CountParts(const Packings& packings) {
  int64_t num_parts = 0;
  for (const std::shared_ptr<Packing>& each : packings) {
    num_parts += each->num_parts();
  }
  return num_parts;
}

void PackPart(const Packings& packings, int64_t part) {
  for (const std::shared_ptr<Packing>& each : packings) {
    if (part < each->num_parts()) return each->PackPart(part);
    part -= each->num_parts();
  }
}

}  // namespace

void WorkAhead::Begin(Invariants* invariants) {
  if (!blocks_.expects_team()) return;
  Packings packings;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i].AddWanted(step_, invariants, &packings);
  }
  Team& team = step_.team();
  const int64_t num_parts = CountParts(packings);
  if (num_parts == 0) return;
  team.Start(num_parts, [packings = std::move(packings)](int64_t part) {
    PackPart(packings, part);
  });
}

WorkAhead::~WorkAhead() {
  // What nobody waited for was not wanted.
  blocks_.set_expects_team(step_.team().has_shared());
  step_.team().Finish();
}

}  // namespace recursive_tf
