#include "recursive_tf/cc/batching/adjoints.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/testing/rows_of.h"

namespace recursive_tf {
namespace {

// What rows hold until they are written: not zero, so that a row that is read
// before is seen.
constexpr int64_t kUnwritten = 1'000'000;

// Rows of integers, one after the other.
struct Matrix {
  friend bool operator==(const Matrix& a, const Matrix& b) {
    return a.width == b.width && a.data == b.data;
  }

  int64_t width = 1;
  std::vector<int64_t> data;
};

class MatrixOps {
 public:
  using Kept = Matrix;

  // Takes the rows of each value, and how long they are; and whether rows may
  // stand.
  MatrixOps(std::vector<int32_t> num_rows, std::vector<int64_t> widths,
            bool can_stand = true)
      : num_rows_(std::move(num_rows)),
        widths_(std::move(widths)),
        can_stand_(can_stand) {}

  const std::vector<int32_t>& num_rows() const { return num_rows_; }
  int num_owned() const { return num_owned_; }
  int num_copied() const { return num_copied_; }
  // Of the value that was taken last.
  size_t num_owners() const { return num_owners_; }

  static int32_t NumRows(const Matrix& rows) {
    return static_cast<int32_t>(rows.data.size()) /
           static_cast<int32_t>(rows.width);
  }
  static int64_t NumBytes(const Matrix& rows) {
    return static_cast<int64_t>(rows.data.size() * sizeof(int64_t));
  }
  int64_t RowSize(int32_t value) const { return widths_.at(value); }
  Matrix Allocate(int32_t value) const {
    const int64_t width = widths_.at(value);
    return {width,
            std::vector<int64_t>(num_rows_.at(value) * width, kUnwritten)};
  }
  static Matrix* View(const Matrix& rows) { return const_cast<Matrix*>(&rows); }
  static const int64_t* At(const Matrix* rows, int64_t row, int64_t offset) {
    return &rows->data.at(row * rows->width + offset);
  }
  void Copy(const int64_t* from, Matrix* to, int64_t to_row) const {
    ++num_copied_;
    std::copy(from, from + to->width, &to->data.at(to_row * to->width));
  }
  static void Add(const int64_t* from, Matrix* to, int64_t to_row) {
    for (int64_t i = 0; i < to->width; ++i) {
      to->data.at(to_row * to->width + i) += from[i];
    }
  }
  static void Finish() {}
  static void Clear(Matrix* rows, int64_t row) {
    for (int64_t i = 0; i < rows->width; ++i) {
      rows->data.at(row * rows->width + i) = 0;
    }
  }
  void Own(Matrix* /*rows*/) const { ++num_owned_; }
  bool CanStand(int32_t /*value*/) const { return can_stand_; }
  Matrix Standing(int32_t value, const std::vector<const int64_t*>& places,
                  const std::vector<Matrix>& owners) const {
    num_owners_ = owners.size();
    const int64_t width = widths_.at(value);
    Matrix rows{width, {}};
    for (const int64_t* place : places) {
      for (int64_t i = 0; i < width; ++i) {
        rows.data.push_back(place == nullptr ? 0 : place[i]);
      }
    }
    return rows;
  }

 private:
  const std::vector<int32_t> num_rows_;
  const std::vector<int64_t> widths_;
  const bool can_stand_;
  mutable int num_owned_ = 0;
  mutable int num_copied_ = 0;
  mutable size_t num_owners_ = 0;
};

using MatrixAdjoints = Adjoints<Matrix, MatrixOps>;

TEST(AdjointsTest, RowsThatNobodyContributedToAreZero) {
  for (const bool can_stand : {false, true}) {
    const MatrixOps ops({3}, {1}, can_stand);
    MatrixAdjoints adjoints(&ops.num_rows(), &ops);
    adjoints.Add(RowsOf({{0, 2}, {0, 0}}), {1, {5, 6}});
    EXPECT_EQ(adjoints.Take(0), (Matrix{1, {6, 0, 5}}));
    EXPECT_EQ(adjoints.Take(0), std::nullopt);
  }
}

TEST(AdjointsTest, RowsOfOneContributionAreNotCopied) {
  const MatrixOps ops({3, 1}, {2, 2});
  MatrixAdjoints adjoints(&ops.num_rows(), &ops);
  adjoints.Add(RowsOf({{0, 2}, {1, 0}, {0, 0}}), {2, {1, 2, 3, 4, 5, 6}});
  adjoints.Add(RowsOf({{0, 1}}), {2, {7, 8}});
  EXPECT_EQ(adjoints.Take(0), (Matrix{2, {5, 6, 7, 8, 1, 2}}));
  EXPECT_EQ(ops.num_owners(), 2U);
  EXPECT_EQ(adjoints.Take(1), (Matrix{2, {3, 4}}));
  EXPECT_EQ(ops.num_owners(), 1U);
  EXPECT_EQ(ops.num_copied(), 0);
}

TEST(AdjointsTest, ASecondContributionGivesAValueRowsOfItsOwn) {
  const MatrixOps ops({4}, {1});
  MatrixAdjoints adjoints(&ops.num_rows(), &ops);
  adjoints.Add(RowsOf({{0, 3}, {0, 0}}), {1, {1, 2}});
  adjoints.Add(RowsOf({{0, 1}, {0, 0}, {0, 3}}), {1, {10, 20, 30}});
  // Those that stood, and the one that came.
  EXPECT_EQ(ops.num_copied(), 3);
  adjoints.Add(RowsOf({{0, 1}}), {1, {100}});
  EXPECT_EQ(ops.num_owned(), 0);
  EXPECT_EQ(adjoints.Take(0), (Matrix{1, {22, 110, 0, 31}}));
}

TEST(AdjointsTest, ContributionsAddUp) {
  for (const bool can_stand : {false, true}) {
    const MatrixOps ops({1, 2}, {1, 1}, can_stand);
    MatrixAdjoints adjoints(&ops.num_rows(), &ops);
    adjoints.Add(RowsOf({{1, 1}, {1, 1}, {0, 0}}), {1, {10, 20, 7}});
    adjoints.Add(RowsOf({{0, 0}, {0, 0}, {0, 0}}), {1, {1, 1, 1}});
    EXPECT_EQ(adjoints.Take(1), (Matrix{1, {0, 30}}));
    EXPECT_EQ(adjoints.Take(0), (Matrix{1, {10}}));
  }
}

TEST(AdjointsTest, TheGradientOfAWholeValueIsTakenAsItIs) {
  const MatrixOps ops({2}, {2});
  MatrixAdjoints adjoints(&ops.num_rows(), &ops);
  adjoints.Add(RowsOf({{0, 0}, {0, 1}}), {2, {1, 2, 3, 4}});
  EXPECT_EQ(ops.num_owned(), 0);
  // Somebody else may hold it, so it must not be written to.
  adjoints.Add(RowsOf({{0, 1}}), {2, {10, 20}});
  adjoints.Add(RowsOf({{0, 1}}), {2, {10, 20}});
  EXPECT_EQ(ops.num_owned(), 1);
  EXPECT_EQ(adjoints.Take(0), (Matrix{2, {1, 2, 23, 44}}));
}

TEST(AdjointsTest, BytesAreThoseThatWereNotTaken) {
  const MatrixOps ops({2, 1}, {1, 1});
  MatrixAdjoints adjoints(&ops.num_rows(), &ops);
  adjoints.Add(RowsOf({{0, 0}, {0, 1}}), {1, {1, 2}});  // The whole value.
  EXPECT_EQ(adjoints.num_bytes(), 16);
  adjoints.Add(RowsOf({{0, 1}, {1, 0}}), {1, {5, 6}});  // Value 1 stands in it.
  EXPECT_EQ(adjoints.num_bytes(), 32);
  adjoints.Take(0);
  EXPECT_EQ(adjoints.num_bytes(), 16);
  adjoints.Take(1);
  EXPECT_EQ(adjoints.num_bytes(), 0);
}

TEST(AdjointsTest, AGradientIsHeldWhileRowsStandInIt) {
  const MatrixOps ops({2, 2}, {1, 1});
  MatrixAdjoints adjoints(&ops.num_rows(), &ops);
  adjoints.Add(RowsOf({{0, 1}, {1, 1}}), {1, {5, 6}});
  EXPECT_EQ(adjoints.num_bytes(), 16);
  adjoints.Take(0);
  EXPECT_EQ(adjoints.num_bytes(), 16);
  // A tensor of two rows; the gradients that stood in others are let go of.
  adjoints.Add(RowsOf({{1, 1}}), {1, {7}});
  EXPECT_EQ(adjoints.num_bytes(), 16);
  EXPECT_EQ(adjoints.Take(1), (Matrix{1, {0, 13}}));
  EXPECT_EQ(adjoints.num_bytes(), 0);
}

TEST(AdjointsTest, RowsMayComeFromAnywhere) {
  const MatrixOps ops({2}, {1});
  MatrixAdjoints adjoints(&ops.num_rows(), &ops);
  adjoints.Add(RowsOf({{0, 0}, {0, 1}}), Matrix{1, {10, 11, 12, 13}}, {3, 1});
  EXPECT_EQ(adjoints.Take(0), (Matrix{1, {13, 11}}));
}

TEST(AdjointsTest, EachPieceOfAJoinedRowHasItsPart) {
  const MatrixOps ops({2, 2}, {2, 1});
  MatrixAdjoints adjoints(&ops.num_rows(), &ops);
  const JoinedRows joined = {RowsOf({{0, 1}, {0, 0}}),
                             RowsOf({{1, 0}, {1, 1}})};
  adjoints.Add(joined, {3, {1, 2, 3, 4, 5, 6}});
  EXPECT_EQ(adjoints.Take(0), (Matrix{2, {4, 5, 1, 2}}));
  EXPECT_EQ(adjoints.Take(1), (Matrix{1, {3, 6}}));
}

TEST(AdjointsTest, OneValueMayBeBothPieces) {
  const MatrixOps ops({1}, {1});
  MatrixAdjoints adjoints(&ops.num_rows(), &ops);
  adjoints.Add({RowsOf({{0, 0}}), RowsOf({{0, 0}})}, {2, {3, 40}});
  EXPECT_EQ(adjoints.Take(0), (Matrix{1, {43}}));
}

}  // namespace
}  // namespace recursive_tf
