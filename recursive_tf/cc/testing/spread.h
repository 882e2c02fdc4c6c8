#ifndef RECURSIVE_TF_CC_TESTING_SPREAD_H_
#define RECURSIVE_TF_CC_TESTING_SPREAD_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace recursive_tf {

// Returns how full the fullest of 16 classes is, as a multiple of its fair
// share, if bits `first_bit` to `first_bit + 3` of a hash choose the class.
// 1 is a perfect spread, 16 is none.
inline double FullestClass(const std::vector<uint64_t>& hashes,
                           unsigned first_bit) {
  constexpr size_t kNumClasses = 16;
  std::array<size_t, kNumClasses> sizes = {};
  for (uint64_t hash : hashes) ++sizes[(hash >> first_bit) % kNumClasses];
  const size_t fullest = *std::max_element(sizes.begin(), sizes.end());
  return static_cast<double>(fullest * kNumClasses) /
         static_cast<double>(hashes.size());
}

// Returns the worst of FullestClass over all groups of four neighboring bits:
// whichever of them a table uses, no class is fuller than that.
inline double FullestClassOfAnyBits(const std::vector<uint64_t>& hashes) {
  double worst = 0;
  for (unsigned first_bit = 0; first_bit <= 60; ++first_bit) {
    worst = std::max(worst, FullestClass(hashes, first_bit));
  }
  return worst;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TESTING_SPREAD_H_
