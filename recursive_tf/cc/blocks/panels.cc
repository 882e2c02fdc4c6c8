#include "recursive_tf/cc/blocks/panels.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/divide.h"

namespace recursive_tf {

std::vector<ColumnPart> SplitColumns(int64_t width, int64_t num_parts,
                                     int64_t lanes, int64_t max_vectors,
                                     int64_t tiles_of_panel) {
  const int64_t num_vectors = DivideUp(width, lanes);
  const int64_t count = std::clamp<int64_t>(num_parts, 1, num_vectors);
  std::vector<ColumnPart> parts(count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = num_vectors * i / count;
    const int64_t end = num_vectors * (i + 1) / count;
    ColumnPart& part = parts[i];
    part.first_column = begin * lanes;
    part.num_columns = std::min(end * lanes, width) - begin * lanes;
    const int64_t num_tiles = DivideUp(end - begin, max_vectors);
    // At once: of rows that are too wide for any memory this says so.
    part.panels.reserve(DivideUp(num_tiles, tiles_of_panel));
    for (int64_t tile = 0; tile < num_tiles; tile += tiles_of_panel) {
      const int64_t next = std::min(tile + tiles_of_panel, num_tiles);
      const int64_t from = begin + (end - begin) * tile / num_tiles;
      const int64_t to = begin + (end - begin) * next / num_tiles;
      part.panels.push_back({from * lanes,
                             std::min(to * lanes, width) - from * lanes,
                             to - from});
    }
  }
  return parts;
}

}  // namespace recursive_tf
