#include "recursive_tf/cc/runtime/row_claims.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

using Verdict = RowClaims::Verdict;

TEST(RowClaimsTest, EveryRowCanBeClaimed) {
  RowClaims claims(3);
  EXPECT_EQ(claims.num_rows(), 3);
  for (int64_t row = 0; row < 3; ++row) {
    EXPECT_EQ(claims.Claim(row), Verdict::kClaimed);
  }
}

TEST(RowClaimsTest, AClaimedRowIsTakenForGood) {
  RowClaims claims(3);
  ASSERT_EQ(claims.Claim(1), Verdict::kClaimed);
  EXPECT_EQ(claims.Claim(1), Verdict::kTaken);
  EXPECT_EQ(claims.Claim(1), Verdict::kTaken);
  EXPECT_TRUE(claims.IsTaken(1));
  EXPECT_FALSE(claims.IsTaken(2));
}

TEST(RowClaimsTest, ClaimsOfOneThreadAreClaims) {
  RowClaims claims(2);
  EXPECT_EQ(claims.ClaimAlone(0), Verdict::kClaimed);
  EXPECT_EQ(claims.ClaimAlone(0), Verdict::kTaken);
  EXPECT_EQ(claims.Claim(0), Verdict::kTaken);
  ASSERT_EQ(claims.Claim(1), Verdict::kClaimed);
  EXPECT_EQ(claims.ClaimAlone(1), Verdict::kTaken);
  EXPECT_EQ(claims.ClaimAlone(-1), Verdict::kOutOfRange);
  EXPECT_EQ(claims.ClaimAlone(2), Verdict::kOutOfRange);
}

TEST(RowClaimsTest, RowsOutsideTheTableAreRefused) {
  RowClaims claims(3);
  EXPECT_EQ(claims.Claim(-1), Verdict::kOutOfRange);
  EXPECT_EQ(claims.Claim(3), Verdict::kOutOfRange);
  EXPECT_EQ(claims.Claim(std::numeric_limits<int64_t>::min()),
            Verdict::kOutOfRange);
  EXPECT_EQ(claims.Claim(std::numeric_limits<int64_t>::max()),
            Verdict::kOutOfRange);
}

TEST(RowClaimsTest, ARefusalClaimsNothing) {
  RowClaims claims(1);
  ASSERT_EQ(claims.Claim(-1), Verdict::kOutOfRange);
  ASSERT_EQ(claims.Claim(1), Verdict::kOutOfRange);
  EXPECT_EQ(claims.Claim(0), Verdict::kClaimed);
}

TEST(RowClaimsTest, AnEmptyTableHasNoRowToClaim) {
  RowClaims claims(0);
  EXPECT_EQ(claims.num_rows(), 0);
  EXPECT_EQ(claims.Claim(0), Verdict::kOutOfRange);
}

TEST(RowClaimsTest, ATableLargerThanMemoryHasNone) {
  EXPECT_TRUE(RowClaims(0).has_memory());
  EXPECT_TRUE(RowClaims(3).has_memory());
  EXPECT_FALSE(RowClaims(std::numeric_limits<int64_t>::max()).has_memory());
}

// The rows are plain memory: two winners of one row would be a data race.
TEST(RowClaimsStressTest, EachRowIsWrittenByExactlyOneOfEightThreads) {
  constexpr int kNumThreads = 8;
  constexpr int kNumRows = 200000;
  constexpr int kUnwritten = -1;
  RowClaims claims(kNumRows);
  std::vector<int> rows(kNumRows, kUnwritten);
  std::atomic<int> num_claimed = 0;
  RunInThreads(kNumThreads, [&](int thread) {
    for (int row = 0; row < kNumRows; ++row) {
      if (claims.Claim(row) != Verdict::kClaimed) continue;
      EXPECT_EQ(rows[row], kUnwritten);
      rows[row] = thread;
      ++num_claimed;
    }
  });
  EXPECT_EQ(num_claimed, kNumRows);
  for (const int row : rows) EXPECT_NE(row, kUnwritten);
}

}  // namespace
}  // namespace recursive_tf
