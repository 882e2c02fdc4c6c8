#ifndef RECURSIVE_TF_CC_BASE_HASH_H_
#define RECURSIVE_TF_CC_BASE_HASH_H_

#include <cstdint>

namespace recursive_tf {

// Mixes `value` into `seed`: consecutive ids spread over the whole word.
inline uint64_t HashCombine(uint64_t seed, uint64_t value) {
  // 2^64 / golden ratio.
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
  const uint64_t mixed = (seed ^ value) * kGolden;
  return mixed ^ (mixed >> 32U);
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_HASH_H_
