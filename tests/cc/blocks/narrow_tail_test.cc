#include "recursive_tf/cc/blocks/narrow_tail.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "tests/cc/blocks/run_row.h"

namespace recursive_tf {
namespace {

// The places of the phase below.
enum : int32_t {
  kRow,
  kAtAddress,
  kColumn,
  kBias,
  kWide,
  kOne,
  kFirst,
  kLast = kFirst + 2
};

Instruction OfOne(bool Instruction::* kind, int32_t out, int32_t in) {
  Instruction instruction;
  instruction.*kind = true;
  instruction.out = out;
  instruction.in[0] = in;
  return instruction;
}

Instruction Reduce(Reduction reduction, int32_t out, int32_t in) {
  Instruction instruction = OfOne(&Instruction::is_reduction, out, in);
  instruction.reduction = reduction;
  return instruction;
}

Instruction Compute(Opcode opcode, int32_t out, int32_t a, int32_t b = 0) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.out = out;
  instruction.in[0] = a;
  instruction.in[1] = b;
  return instruction;
}

// Every kind of place, and every kind of instruction that takes whole rows: a
// softmax of rows and a bias, times a column.
Phase SoftmaxPhase(int64_t width) {
  using Kind = Place::Kind;
  Phase phase;
  phase.width = width;
  phase.needs_whole_rows = true;
  phase.places = {{Kind::kInput, 0},
                  {Kind::kInput, 1},
                  {Kind::kInput, 2, 0, /*is_one_column=*/true},
                  {Kind::kShared, 0},
                  {Kind::kBuffer, 0},
                  {Kind::kBuffer, 1, 0, /*is_one_column=*/true},
                  {Kind::kRegister, 0},
                  {Kind::kRegister, 1},
                  {Kind::kRegister, 2}};
  phase.num_registers = 3;
  const int32_t x = kFirst;
  const int32_t y = kFirst + 1;
  phase.code = {Compute(Opcode::kAdd, x, kRow, kBias),
                Compute(Opcode::kMulAdd, x, x, kAtAddress),
                Reduce(Reduction::kMax, y, x),
                Compute(Opcode::kSub, x, x, y),
                Compute(Opcode::kExp, x, x),
                Reduce(Reduction::kSum, y, x),
                Compute(Opcode::kDiv, kWide, x, y),
                OfOne(&Instruction::spreads, kLast, kColumn),
                Compute(Opcode::kMul, x, kWide, kLast),
                Reduce(Reduction::kMean, y, x),
                Reduce(Reduction::kMin, x, x),
                Compute(Opcode::kSub, x, x, y),
                OfOne(&Instruction::narrows, kOne, x)};
  phase.code[1].in[2] = kBias;
  return phase;
}

template <typename T>
std::vector<T> Draw(int64_t size, std::mt19937* random) {
  std::uniform_real_distribution<double> distribution(-2, 2);
  std::vector<T> drawn(size);
  for (T& number : drawn) number = static_cast<T>(distribution(*random));
  return drawn;
}

// What the phase gives, with columns that nothing may write.
template <typename T>
struct Given {
  explicit Given(int64_t num_rows, int64_t width)
      : wide(num_rows * (width + 1), T(7)), one(num_rows * 2, T(7)) {}

  std::vector<T> wide;
  std::vector<T> one;
};

template <typename T>
void Check(const Kernels<T>& kernels, int64_t num_rows, int64_t width) {
  SCOPED_TRACE(testing::Message() << num_rows << " rows of " << width);
  std::mt19937 random(static_cast<uint32_t>(31 * num_rows + width));
  std::vector<T> rows = Draw<T>(num_rows * (width + 2), &random);
  std::vector<T> addressed = Draw<T>(num_rows * width, &random);
  std::vector<T> column = Draw<T>(num_rows, &random);
  std::vector<T> bias = Draw<T>(width, &random);
  std::vector<T*> addresses;
  for (int64_t i = 0; i < num_rows; ++i) {
    addresses.push_back(addressed.data() + (num_rows - 1 - i) * width);
  }
  const Phase phase = SoftmaxPhase(width);
  const auto sets_of = [&](Given<T>* given) {
    return std::vector<RowSet<T>>{{rows.data(), width + 2, nullptr, 1},
                                  {nullptr, 0, addresses.data()},
                                  {column.data(), 1},
                                  {bias.data(), 0},
                                  {given->wide.data(), width + 1},
                                  {given->one.data(), 2},
                                  {},
                                  {},
                                  {}};
  };
  Given<T> wanted(num_rows, width);
  std::vector<RowSet<T>> sets = sets_of(&wanted);
  std::vector<T> registers(3 * width);
  for (int32_t i = 0; i < 3; ++i) {
    sets[kFirst + i] = {registers.data() + i * width, 0};
  }
  for (int64_t row = 0; row < num_rows; ++row) {
    kernels.tail({phase.code.data(), static_cast<int64_t>(phase.code.size()),
                  sets.data(), row, row + 1, width});
  }
  Given<T> found(num_rows, width);
  NarrowTail<T> tail;
  // In two parts, as of two threads.
  const int64_t half = num_rows / 2;
  tail.Run(kernels, phase, sets_of(&found), 0, half);
  tail.Run(kernels, phase, sets_of(&found), half, num_rows);
  EXPECT_EQ(found.wide, wanted.wide);
  EXPECT_EQ(found.one, wanted.one);
}

TEST(NarrowTailTest, GivesTheSameBitsAsRowsOneByOne) {
  ForAllKernels([](const auto& kernels) {
    for (int64_t width = 1; width < kernels.lanes; ++width) {
      for (const int64_t num_rows : {1, 2, 15, 16, 33, 64, 65, 200}) {
        Check(kernels, num_rows, width);
      }
    }
  });
}

TEST(NarrowTailTest, PaysWhereColumnsTakeFewerVectors) {
  const auto pays = [](int64_t width, int64_t num_rows) {
    return NarrowTail<float>::Pays(SoftmaxPhase(width), num_rows, 16);
  };
  EXPECT_FALSE(pays(5, 1));
  EXPECT_FALSE(pays(5, 5));
  EXPECT_TRUE(pays(5, 6));
  EXPECT_TRUE(pays(5, 48));
  EXPECT_FALSE(pays(15, 15));
  EXPECT_TRUE(pays(15, 16));
  EXPECT_FALSE(pays(16, 1000));
  EXPECT_FALSE(pays(150, 1000));
}

TEST(NarrowTailTest, DoesNotPayForFewInstructions) {
  Phase phase = SoftmaxPhase(5);
  phase.code.resize(phase.places.size() - 1);
  EXPECT_FALSE(NarrowTail<float>::Pays(phase, 48, 16));
}

}  // namespace
}  // namespace recursive_tf
