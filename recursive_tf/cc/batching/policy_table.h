#ifndef RECURSIVE_TF_CC_BATCHING_POLICY_TABLE_H_
#define RECURSIVE_TF_CC_BATCHING_POLICY_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"

namespace recursive_tf {

// What of a frontier a learned policy looks at (Gu et al. 2023, section 2.3),
// of the blocks of the lowest rank: nothing is lost by launching all of these
// before any other, since none of them waits for one of a higher rank.
enum class Encoding : uint8_t {
  kBase,  // The blocks that somebody waits for.
  kMax,   // These, and the one that most wait for.
  kSort,  // These, from the one that most wait for down.
};

// Returns an encoding by its name, e.g. "sort", or nothing.
std::optional<Encoding> EncodingOf(const std::string& name);

// Blocks, as an encoding has them. Of equally many the lower block is first.
using FrontierState = std::vector<int32_t>;

FrontierState Encode(const Frontier& frontier, const BlockOrder& order,
                     Encoding encoding);

// A finite state machine: which block is launched in which state. What state
// comes next is up to the data.
struct PolicyTable {
  Encoding encoding = Encoding::kSort;
  std::map<FrontierState, int32_t> choices;
};

// Returns a table as text, e.g. "fsm sort 0:0 2,1:1".
std::string ToText(const PolicyTable& table);

// Returns the table that a text says, or nothing if it says none.
std::optional<PolicyTable> TableFromText(const std::string& text);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_POLICY_TABLE_H_
