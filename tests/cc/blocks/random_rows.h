#ifndef TESTS_CC_BLOCKS_RANDOM_ROWS_H_
#define TESTS_CC_BLOCKS_RANDOM_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "recursive_tf/cc/blocks/block_graph.h"
#include "tests/cc/blocks/evaluate.h"

namespace recursive_tf {

// Returns numbers from -1 to 1.
inline Numbers RandomNumbers(int64_t count, std::mt19937* random) {
  std::uniform_real_distribution<double> distribution(-1, 1);
  Numbers numbers(count);
  // As a float holds them, so that both sides start from the same.
  for (double& number : numbers) {
    number = static_cast<float>(distribution(*random));
  }
  return numbers;
}

template <typename T>
std::vector<T> Cast(const Numbers& numbers) {
  return std::vector<T>(numbers.begin(), numbers.end());
}

// Returns so many rows, with lists of items if a graph has any.
inline RowCounts RandomCounts(const BlockGraph& graph, int64_t num_rows,
                              std::mt19937* random) {
  if (graph.owners().empty()) return num_rows;
  std::vector<int64_t> owners;
  for (int64_t row = 0; row < num_rows; ++row) {
    const int64_t lengths[] = {0, 1, 1, 2, 3, 7};
    owners.insert(owners.end(), lengths[(*random)() % 6], row);
  }
  return {{num_rows, static_cast<int64_t>(owners.size())}, {owners}};
}

// Returns how many rows an input has.
inline int64_t RowsOfInput(const BlockGraph& graph, const RowCounts& counts,
                           size_t input) {
  for (int32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (node.kind == NodeKind::kInput &&
        node.index == static_cast<int32_t>(input)) {
      return counts.num_rows[graph.AxisOf(node.axis)];
    }
  }
  return counts.num_rows[0];
}

}  // namespace recursive_tf

#endif  // TESTS_CC_BLOCKS_RANDOM_ROWS_H_
