// The kernels for avx2; see sources.bzl for the flags.
#define RECURSIVE_TF_SET Avx2
#include "recursive_tf/cc/blocks/kernel_sets.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/kernels_inc.h"

namespace recursive_tf {

template <>
const Kernels<float>& Avx2Kernels<float>() {
  return MakeKernels<float>("avx2");
}

template <>
const Kernels<double>& Avx2Kernels<double>() {
  return MakeKernels<double>("avx2");
}

}  // namespace recursive_tf
