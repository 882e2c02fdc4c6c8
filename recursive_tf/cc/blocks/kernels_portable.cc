// The kernels for portable; see sources.bzl for the flags.
#define RECURSIVE_TF_SET Portable
#include "recursive_tf/cc/blocks/kernel_sets.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/kernels_inc.h"

namespace recursive_tf {

template <>
const Kernels<float>& PortableKernels<float>() {
  return MakeKernels<float>("portable");
}

template <>
const Kernels<double>& PortableKernels<double>() {
  return MakeKernels<double>("portable");
}

}  // namespace recursive_tf
