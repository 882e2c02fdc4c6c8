#ifndef RECURSIVE_TF_CC_BLOCKS_PANELS_H_
#define RECURSIVE_TF_CC_BLOCKS_PANELS_H_

#include <cstdint>
#include <vector>

namespace recursive_tf {

// Some columns next to each other: as many vectors as products hold in
// registers, for one tile or for two side by side. The last may be partly
// filled.
struct Panel {
  int64_t first_column = 0;
  int64_t num_columns = 0;
  int64_t num_vectors = 0;
};

// Columns that are worked on together, by one thread.
struct ColumnPart {
  int64_t first_column = 0;
  int64_t num_columns = 0;
  std::vector<Panel> panels;
};

// Splits `width` columns into at most `num_parts` parts of about as many
// vectors of `lanes` columns each, and these into panels of so many tiles of
// at most `max_vectors`.
std::vector<ColumnPart> SplitColumns(int64_t width, int64_t num_parts,
                                     int64_t lanes, int64_t max_vectors,
                                     int64_t tiles_of_panel = 1);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_PANELS_H_
