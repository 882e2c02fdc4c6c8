#include "recursive_tf/cc/blocks/packed_matrix.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tests/cc/blocks/threads.h"

namespace recursive_tf {
namespace {

struct Size {
  int64_t depth;
  int64_t num_segments;
  int64_t segment_width;
};

// Returns the number at a place of a matrix that holds 1, 2, ..., or of its
// transpose.
int64_t NumberAt(const Size& size, bool is_transposed, int64_t row,
                 int64_t column) {
  const int64_t num_columns = size.num_segments * size.segment_width;
  return 1 + (is_transposed ? column * size.depth + row
                            : row * num_columns + column);
}

// Packs such a matrix, and looks where each of its numbers is.
template <typename T>
void Check(const Size& size, bool is_transposed, InstructionSet set,
           int num_threads) {
  const Kernels<T>& kernels = KernelsFor<T>(set);
  SCOPED_TRACE(testing::Message()
               << kernels.name << ", " << sizeof(T) << " bytes, depth "
               << size.depth << ", " << size.num_segments << " segments of "
               << size.segment_width << ", transposed: " << is_transposed
               << ", " << num_threads << " threads");
  std::vector<T> matrix(size.depth * size.num_segments * size.segment_width);
  std::iota(matrix.begin(), matrix.end(), T(1));
  const std::vector<ColumnPart> parts = SplitColumns(
      size.segment_width, num_threads, kernels.lanes, kernels.max_vectors);
  Threads threads;
  Team team(num_threads, threads.schedule());
  PackedMatrix<T> packed;
  packed.Pack(
      matrix.data(),
      {size.depth, size.num_segments, size.segment_width, is_transposed}, parts,
      kernels, &team);
  int64_t num_wrong = 0;
  for (int64_t segment = 0; segment < size.num_segments; ++segment) {
    for (size_t part = 0; part < parts.size(); ++part) {
      for (size_t i = 0; i < parts[part].panels.size(); ++i) {
        const Panel& panel = parts[part].panels[i];
        const T* found = packed.panel(segment, static_cast<int64_t>(part),
                                      static_cast<int64_t>(i));
        const int64_t width = panel.num_vectors * kernels.lanes;
        for (int64_t row = 0; row < size.depth; ++row) {
          for (int64_t j = 0; j < width; ++j) {
            const int64_t column =
                segment * size.segment_width + panel.first_column + j;
            const int64_t wanted =
                j < panel.num_columns
                    ? NumberAt(size, is_transposed, row, column)
                    : 0;
            if (*found++ != static_cast<T>(wanted)) ++num_wrong;
          }
        }
      }
    }
  }
  EXPECT_EQ(num_wrong, 0);
}

void CheckAll(const Size& size, bool is_transposed) {
  for (const InstructionSet set : InstructionSets()) {
    for (const int num_threads : {1, 3}) {
      Check<float>(size, is_transposed, set, num_threads);
      Check<double>(size, is_transposed, set, num_threads);
    }
  }
}

TEST(PackedMatrixTest, PanelsHoldTheColumnsOfAMatrix) {
  for (const int64_t width : {1, 3, 16, 17, 47, 64, 65, 130}) {
    for (const int64_t depth : {1, 2, 16, 33}) {
      CheckAll({depth, 1, width}, /*is_transposed=*/false);
    }
  }
}

TEST(PackedMatrixTest, PanelsHoldTheRowsOfATransposedMatrix) {
  for (const int64_t width : {1, 3, 16, 17, 47, 64, 65, 130}) {
    for (const int64_t depth : {1, 2, 16, 33}) {
      CheckAll({depth, 1, width}, /*is_transposed=*/true);
    }
  }
}

TEST(PackedMatrixTest, EachSegmentHasPanelsOfItsOwn) {
  for (const bool is_transposed : {false, true}) {
    CheckAll({20, 5, 21}, is_transposed);
    CheckAll({7, 3, 1}, is_transposed);
    CheckAll({9, 2, 64}, is_transposed);
  }
}

}  // namespace
}  // namespace recursive_tf
