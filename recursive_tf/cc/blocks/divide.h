#ifndef RECURSIVE_TF_CC_BLOCKS_DIVIDE_H_
#define RECURSIVE_TF_CC_BLOCKS_DIVIDE_H_

#include <cstdint>

namespace recursive_tf {

inline int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t RoundUp(int64_t a, int64_t b) { return DivideUp(a, b) * b; }

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_DIVIDE_H_
