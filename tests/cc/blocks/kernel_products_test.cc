#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "tests/cc/blocks/run_row.h"

namespace recursive_tf {
namespace {

constexpr int kSentinel = 77;

template <typename T>
std::vector<T> Draw(int64_t count, std::mt19937* random) {
  std::uniform_real_distribution<T> distribution(-1, 1);
  std::vector<T> numbers(count);
  for (T& number : numbers) number = distribution(*random);
  return numbers;
}

// Checks that rows of `found` are those of `wanted` up to rounding, in so many
// columns, and that nothing was written beside these.
template <typename T>
void ExpectRows(const std::vector<T>& found, int64_t stride,
                const std::vector<double>& wanted, int64_t num_columns,
                int64_t depth) {
  const double most =
      static_cast<double>(depth + 1) * std::numeric_limits<T>::epsilon();
  const auto num_rows = static_cast<int64_t>(wanted.size()) / num_columns;
  int64_t num_wrong = 0;
  for (int64_t i = 0; i < num_rows; ++i) {
    for (int64_t j = 0; j < stride; ++j) {
      const double number = found[i * stride + j];
      const bool is_right =
          j < num_columns
              ? std::fabs(number - wanted[i * num_columns + j]) <= most
              : number == kSentinel;
      num_wrong += is_right ? 0 : 1;
    }
  }
  EXPECT_EQ(num_wrong, 0);
}

// Returns some columns of a matrix of so many.
template <typename T>
std::vector<T> ColumnsOf(const std::vector<T>& matrix, int64_t num_columns,
                         int64_t begin, int64_t count) {
  std::vector<T> found;
  for (auto row = matrix.begin(); row != matrix.end(); row += num_columns) {
    found.insert(found.end(), row + begin, row + begin + count);
  }
  return found;
}

// Multiplies rows of two pieces with one panel: packed, panel by panel if it is
// a wide one; as it stands in a larger matrix; and with its transpose.
template <typename T>
void CheckPanel(const Kernels<T>& kernels, const std::vector<int64_t>& lengths,
                int64_t num_rows, int64_t num_vectors, int64_t num_columns) {
  SCOPED_TRACE(testing::Message() << num_rows << " rows, " << num_vectors
                                  << " vectors, " << num_columns << " columns");
  const int64_t depth = lengths[0] + lengths[1];
  std::mt19937 random(static_cast<uint32_t>(num_columns));
  const int64_t width = num_vectors * kernels.lanes;
  const std::vector<T> panel = Draw<T>(depth * width, &random);
  const std::vector<T> first = Draw<T>(num_rows * lengths[0], &random);
  const std::vector<T> second = Draw<T>(num_rows * lengths[1], &random);
  std::vector<const T*> pieces;
  std::vector<double> wanted;
  for (int64_t i = 0; i < num_rows; ++i) {
    pieces.push_back(first.data() + i * lengths[0]);
    pieces.push_back(second.data() + i * lengths[1]);
    for (int64_t j = 0; j < num_columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const T factor = k < lengths[0] ? pieces[2 * i][k]
                                        : pieces[2 * i + 1][k - lengths[0]];
        sum += static_cast<double>(factor) * panel[k * width + j];
      }
      wanted.push_back(sum);
    }
  }
  const int64_t stride = num_columns + 5;
  const PiecedRows<T> rows = {pieces.data(), lengths.data(), 2, num_rows};
  const auto expect = [&](const auto& multiply) {
    std::vector<T> out(num_rows * stride, T(kSentinel));
    multiply(out.data());
    ExpectRows(out, stride, wanted, num_columns, depth);
    return out;
  };
  const std::vector<T> of_packed = expect([&](T* out) {
    for (int64_t first = 0; first < num_vectors; first += kernels.max_vectors) {
      const int64_t count = std::min(kernels.max_vectors, num_vectors - first);
      const int64_t begin = first * kernels.lanes;
      const std::vector<T> packed =
          ColumnsOf(panel, width, begin, count * kernels.lanes);
      kernels.panel({rows, packed.data(), count, /*panel_stride=*/0,
                     out + begin, stride,
                     std::min(count * kernels.lanes, num_columns - begin)});
    }
  });
  // What stands beside it must not be read: it would be the end of the memory.
  const int64_t matrix_width = num_columns + 3;
  std::vector<T> matrix(depth * matrix_width, T(NAN));
  std::vector<T> transpose(num_columns * (depth + 2), T(NAN));
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t j = 0; j < num_columns; ++j) {
      const T number = panel[k * width + j];
      matrix[k * matrix_width + 3 + j] = number;
      transpose[j * (depth + 2) + k] = number;
    }
  }
  const std::vector<T> of_standing = expect([&](T* out) {
    kernels.panel({rows, matrix.data() + 3, num_vectors, matrix_width, out,
                   stride, num_columns});
  });
  // A guess may choose one of them, and must not show.
  EXPECT_EQ(of_standing, of_packed);
  expect([&](T* out) {
    kernels.dots({rows, transpose.data(), depth + 2, out, stride, num_columns});
  });
}

// Adds what is known of some of two pieces to the product of the others: of a
// wide panel where it stands, as kernels take it in halves.
template <typename T>
void CheckKnown(const Kernels<T>& kernels, int64_t num_rows,
                int64_t num_vectors, uint64_t known) {
  SCOPED_TRACE(testing::Message() << num_rows << " rows, " << num_vectors
                                  << " vectors, known " << known);
  const int64_t lengths[] = {3, 8};
  constexpr int64_t kColumn = 2;
  std::mt19937 random(static_cast<uint32_t>(num_rows));
  const int64_t width = num_vectors * kernels.lanes;
  const int64_t num_columns = width - 1;
  const std::vector<T> panel = Draw<T>(11 * width, &random);
  std::vector<std::vector<T>> rows;
  std::vector<double> wanted(num_rows * num_columns, 0);
  for (int64_t i = 0; i < 2 * num_rows; ++i) {
    const bool is_known = (known >> (i % 2) & 1U) != 0;
    const T* const part = panel.data() + (i % 2 == 0 ? 0 : 3) * width;
    rows.push_back(
        Draw<T>(is_known ? kColumn + width : lengths[i % 2], &random));
    for (int64_t j = 0; j < num_columns; ++j) {
      double& sum = wanted[i / 2 * num_columns + j];
      if (is_known) {
        sum += rows.back()[kColumn + j];
        continue;
      }
      for (int64_t k = 0; k < lengths[i % 2]; ++k) {
        sum += static_cast<double>(rows.back()[k]) * part[k * width + j];
      }
    }
  }
  std::vector<const T*> pieces;
  for (const std::vector<T>& row : rows) pieces.push_back(row.data());
  const int64_t stride = num_columns + 5;
  for (const bool is_packed : {true, false}) {
    if (is_packed && num_vectors > kernels.max_vectors) continue;
    std::vector<T> out(num_rows * stride, T(kSentinel));
    kernels.panel({{pieces.data(), lengths, 2, num_rows},
                   panel.data(),
                   num_vectors,
                   is_packed ? 0 : width,
                   out.data(),
                   stride,
                   num_columns,
                   known,
                   kColumn});
    ExpectRows(out, stride, wanted, num_columns, 11);
  }
}

TEST(KernelProductsTest, WhatIsKnownOfPiecesIsAdded) {
  ForAllKernels([](const auto& kernels) {
    for (int64_t vectors = 1; vectors <= 2 * kernels.max_vectors; ++vectors) {
      for (int64_t rows = 1; rows <= 2 * kernels.max_rows + 2; ++rows) {
        for (const uint64_t known : {1, 2, 3}) {
          CheckKnown(kernels, rows, vectors, known);
        }
      }
    }
  });
}

template <typename T>
void CheckPanels(const Kernels<T>& kernels) {
  const int64_t most = 2 * kernels.max_vectors;
  for (int64_t vectors = 1; vectors <= most; ++vectors) {
    for (int64_t rows = 1; rows <= 4 * kernels.max_rows + 2; ++rows) {
      for (int64_t less = 0; less < kernels.lanes; ++less) {
        CheckPanel(kernels, {3, 8}, rows, vectors,
                   vectors * kernels.lanes - less);
      }
    }
  }
}

TEST(KernelProductsTest, RowsOfPiecesAreMultipliedWithAPanel) {
  ForAllKernels([](const auto& kernels) { CheckPanels(kernels); });
}

// Kernels ask ahead for the rows of such a panel.
TEST(KernelProductsTest, RowsAreMultipliedWithAPanelThatExceedsTheFirstCache) {
  ForAllKernels([](const auto& kernels) {
    const int64_t most = 2 * kernels.max_vectors;
    for (int64_t vectors = 1; vectors <= most; ++vectors) {
      for (int64_t rows = 1; rows <= kernels.max_rows + 1; ++rows) {
        CheckPanel(kernels, {700, 900}, rows, vectors,
                   vectors * kernels.lanes - 1);
      }
    }
  });
}

// Sets or adds the products of columns of a group and a panel, row by row.
template <typename T>
void CheckOuter(const Kernels<T>& kernels, int64_t num_left,
                int64_t num_columns, bool adds) {
  SCOPED_TRACE(testing::Message() << num_left << " columns times "
                                  << num_columns << (adds ? ", added" : ""));
  constexpr int64_t kDepth = 9;
  std::mt19937 random(static_cast<uint32_t>(num_columns));
  const int64_t num_vectors = (num_columns + kernels.lanes - 1) / kernels.lanes;
  const int64_t left_width = kernels.max_rows;
  const int64_t right_width = num_vectors * kernels.lanes;
  const std::vector<T> left = Draw<T>(kDepth * left_width, &random);
  const std::vector<T> right = Draw<T>(kDepth * right_width, &random);
  const int64_t stride = num_columns + 5;
  std::vector<T> out(num_left * stride, T(kSentinel));
  std::vector<double> wanted;
  for (int64_t i = 0; i < num_left; ++i) {
    for (int64_t j = 0; j < num_columns; ++j) {
      out[i * stride + j] = adds ? T(0.5) : T(NAN);
      double sum = adds ? 0.5 : 0;
      for (int64_t k = 0; k < kDepth; ++k) {
        sum += static_cast<double>(left[k * left_width + i]) *
               right[k * right_width + j];
      }
      wanted.push_back(sum);
    }
  }
  kernels.outer({left.data(), right.data(), kDepth, num_left, num_vectors,
                 out.data(), stride, num_columns, adds});
  ExpectRows(out, stride, wanted, num_columns, kDepth);
}

template <typename T>
void CheckOuters(const Kernels<T>& kernels) {
  const int64_t most = kernels.max_vectors * kernels.lanes;
  for (int64_t left = 1; left <= kernels.max_rows; ++left) {
    for (int64_t right = 1; right <= most; ++right) {
      CheckOuter(kernels, left, right, true);
      CheckOuter(kernels, left, right, false);
    }
  }
}

TEST(KernelProductsTest, OuterProductsAreSetOrAddedToWhatIsThere) {
  ForAllKernels([](const auto& kernels) { CheckOuters(kernels); });
}

// Copies some columns of rows, which begin at any place of a group.
template <typename T>
void CheckGroups(const Kernels<T>& kernels, int64_t first,
                 int64_t num_columns) {
  SCOPED_TRACE(testing::Message() << num_columns << " from " << first << " on");
  constexpr int64_t kDepth = 11;
  constexpr int64_t kBegin = 2;
  constexpr int64_t kColumn = 4;
  const int64_t width = kColumn + num_columns;
  const int64_t group = kernels.max_rows;
  std::mt19937 random(static_cast<uint32_t>(num_columns));
  std::vector<T> rows = Draw<T>((kBegin + kDepth) * width, &random);
  const int64_t num_groups = (first + num_columns + group - 1) / group;
  std::vector<T> found(num_groups * kDepth * group, T(kSentinel));
  std::vector<T> wanted = found;
  for (int64_t k = 0; k < kDepth; ++k) {
    for (int64_t j = 0; j < num_columns; ++j) {
      const int64_t to = first + j;
      wanted[(to / group * kDepth + k) * group + to % group] =
          rows[(kBegin + k) * width + kColumn + j];
    }
  }
  const RowSet<T> from = {rows.data(), width};
  kernels.group({from.From(kColumn), kBegin, kBegin + kDepth, num_columns,
                 kDepth, first, found.data()});
  EXPECT_EQ(found, wanted);
}

TEST(KernelProductsTest, ColumnsAreCopiedToGroupsFromAnyPlaceOn) {
  ForAllKernels([](const auto& kernels) {
    for (int64_t first = 0; first <= 2 * kernels.max_rows; ++first) {
      for (int64_t count = 0; count <= 3 * kernels.max_rows; ++count) {
        CheckGroups(kernels, first, count);
      }
    }
  });
}

}  // namespace
}  // namespace recursive_tf
