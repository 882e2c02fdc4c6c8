#ifndef RECURSIVE_TF_CC_BASE_MIX_KEY_H_
#define RECURSIVE_TF_CC_BASE_MIX_KEY_H_

#include <cstdint>

namespace recursive_tf {

// Returns the key that `number` has below `key`: a random stream for each path
// of numbers.
//
// Invariants:
//   (1) One key never gives two numbers the same.
//   (2) Each bit of either changes about half of the bits of what is returned.
//
// Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
// Generators", OOPSLA 2014, figure 14, with the constants of Stafford's mix 13.
inline uint64_t MixKey(uint64_t key, uint64_t number) {
  // 2^64 / golden ratio.
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
  uint64_t mixed = key + ((number + 1) * kGolden);
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31U);
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_MIX_KEY_H_
