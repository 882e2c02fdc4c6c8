#ifndef RECURSIVE_TF_CC_BLOCKS_KERNEL_SETS_H_
#define RECURSIVE_TF_CC_BLOCKS_KERNEL_SETS_H_

#include "recursive_tf/cc/blocks/kernels.h"

namespace recursive_tf {

// Each is in a source file that is compiled for its instruction set. Only call
// what the processor has.

template <typename T>
const Kernels<T>& Avx512Kernels();
template <typename T>
const Kernels<T>& Avx2Kernels();
template <typename T>
const Kernels<T>& PortableKernels();

template <>
const Kernels<float>& Avx512Kernels<float>();
template <>
const Kernels<double>& Avx512Kernels<double>();
template <>
const Kernels<float>& Avx2Kernels<float>();
template <>
const Kernels<double>& Avx2Kernels<double>();
template <>
const Kernels<float>& PortableKernels<float>();
template <>
const Kernels<double>& PortableKernels<double>();

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_KERNEL_SETS_H_
