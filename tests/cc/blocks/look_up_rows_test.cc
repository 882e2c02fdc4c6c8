#include "recursive_tf/cc/blocks/look_up_rows.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tests/cc/blocks/threads.h"

namespace recursive_tf {
namespace {

// Looks up rows of two numbers; row i of the table has i and 10 i. Returns
// whether all are there, and sets what was found.
bool LookUp(std::vector<float> numbers, std::vector<float>* found,
            int num_threads = 1) {
  const auto num_rows = static_cast<int64_t>(numbers.size());
  const std::vector<float> table = {0, 0, 1, 10, 2, 20};
  found->assign(2 * numbers.size(), NAN);
  BlockProgram program;
  program.buffers = {{1, 0}, {2, 0}};
  BlockRows<float> rows;
  rows.num_rows = {num_rows};
  rows.buffers = {numbers.data(), found->data()};
  rows.tables = {{table.data(), 3}};
  Threads threads;
  Team team(num_threads, threads.schedule());
  const BlockInvariants<float> invariants(
      &program, &KernelsFor<float>(InstructionSets().back()), {},
      Matrices::kPacked, &team);
  const PlacedRows<float> placed(&program, &invariants, &rows);
  LookUpStep step;
  step.number = {Place::Kind::kBuffer, 0, 0};
  step.out = {Place::Kind::kBuffer, 1, 0};
  return LookUpRows(placed, step, 2, num_rows, &team);
}

TEST(LookUpRowsTest, EachNumberSelectsARow) {
  std::vector<float> found;
  EXPECT_TRUE(LookUp({2, 0, 2, 1}, &found));
  EXPECT_EQ(found, (std::vector<float>{2, 20, 0, 0, 2, 20, 1, 10}));
}

TEST(LookUpRowsTest, ThreadsShareManyRows) {
  std::vector<float> numbers;
  std::vector<float> wanted;
  for (int i = 0; i < 150'000; ++i) {
    const auto number = static_cast<float>(i % 3);
    numbers.push_back(number);
    wanted.insert(wanted.end(), {number, 10 * number});
  }
  std::vector<float> found;
  EXPECT_TRUE(LookUp(numbers, &found, /*num_threads=*/3));
  EXPECT_EQ(found, wanted);
  numbers[77'777] = 3;
  EXPECT_FALSE(LookUp(numbers, &found, /*num_threads=*/3));
}

TEST(LookUpRowsTest, ANumberThatSelectsNoRowIsRefused) {
  std::vector<float> found;
  for (const float number : {-1.0F, 3.0F, 1e30F, -INFINITY, NAN}) {
    EXPECT_FALSE(LookUp({0, number, 1}, &found)) << number;
  }
}

}  // namespace
}  // namespace recursive_tf
