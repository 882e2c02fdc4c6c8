// The kernels for avx512; see sources.bzl for the flags.
#define RECURSIVE_TF_SET Avx512
#include "recursive_tf/cc/blocks/kernel_sets.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/kernels_inc.h"

namespace recursive_tf {

template <>
const Kernels<float>& Avx512Kernels<float>() {
  return MakeKernels<float>("avx512");
}

template <>
const Kernels<double>& Avx512Kernels<double>() {
  return MakeKernels<double>("avx512");
}

}  // namespace recursive_tf
