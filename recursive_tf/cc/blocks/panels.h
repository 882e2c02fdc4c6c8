#ifndef RECURSIVE_TF_CC_BLOCKS_PANELS_H_
#define RECURSIVE_TF_CC_BLOCKS_PANELS_H_

#include <cstddef>
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

// Calls visit(panel, part, index) for each panel of parts, with the number of
// its part and its own in that.
template <typename Visit>
void ForEachPanel(const std::vector<ColumnPart>& parts, const Visit& visit) {
  for (size_t part = 0; part < parts.size(); ++part) {
    const std::vector<Panel>& panels = parts[part].panels;
    for (size_t i = 0; i < panels.size(); ++i) {
      visit(panels[i], static_cast<int64_t>(part), static_cast<int64_t>(i));
    }
  }
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_PANELS_H_
