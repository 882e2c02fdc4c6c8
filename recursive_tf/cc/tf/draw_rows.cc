#include "recursive_tf/cc/tf/draw_rows.h"

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/share_rows.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/random_rows.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/lib/random/random_distributions.h"

namespace recursive_tf {
namespace {

namespace random = tensorflow::random;

// What drawing a number takes, in numbers that an instruction works on.
constexpr int64_t kNumbersOfDraw = 4 * kNumbersAnInstruction;

template <typename Distribution, typename T>
void Draw(const RowDraw& draw, const std::vector<std::vector<int64_t>>& numbers,
          Team* team, T* rows) {
  const std::vector<int64_t>& keys = numbers[draw.key];
  const auto num_rows = static_cast<int64_t>(keys.size());
  const auto draw_some = [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const auto key = static_cast<uint64_t>(keys[row]);
      uint64_t counter[2];
      for (int i = 0; i < 2; ++i) {
        counter[i] = static_cast<uint64_t>(numbers[draw.counters[i]][row]);
      }
      FillRandomRow(counter, &key, draw.width, Distribution(),
                    rows + (row * draw.width));
    }
  };
  ShareRows(team, num_rows, num_rows * draw.width * kNumbersOfDraw, draw_some);
}

}  // namespace

template <typename T>
void DrawRows(const RowDraw& draw,
              const std::vector<std::vector<int64_t>>& numbers, Team* team,
              std::vector<T>* rows) {
  using random::PhiloxRandom;
  using Singly = random::SingleSampleAdapter<PhiloxRandom>;
  rows->resize(numbers[draw.key].size() * draw.width);
  switch (draw.distribution) {
    case RowDraw::Distribution::kUniform:
      return Draw<random::UniformDistribution<PhiloxRandom, T>>(
          draw, numbers, team, rows->data());
    case RowDraw::Distribution::kNormal:
      return Draw<random::NormalDistribution<PhiloxRandom, T>>(
          draw, numbers, team, rows->data());
    case RowDraw::Distribution::kTruncatedNormal:
      return Draw<random::TruncatedNormalDistribution<Singly, T>>(
          draw, numbers, team, rows->data());
  }
}

template void DrawRows<float>(const RowDraw& draw,
                              const std::vector<std::vector<int64_t>>& numbers,
                              Team* team, std::vector<float>* rows);
template void DrawRows<double>(const RowDraw& draw,
                               const std::vector<std::vector<int64_t>>& numbers,
                               Team* team, std::vector<double>* rows);

}  // namespace recursive_tf
