// The kernels of one instruction set: included by a source file for each, which
// is compiled with the flags of that set and says in RECURSIVE_TF_SET what to
// call them. Vectors are Eigen's packets, which TensorFlow's own kernels use:
// so a function of a number is the same here and there, up to fused rounding.
//
// Two files must not define one function with different instructions, or the
// linker would keep either: Eigen gets a name of its own in each, all else is
// in an anonymous namespace, and nothing of the standard library is used but
// plain types.

#define RECURSIVE_TF_JOIN_(a, b) a##b
#define RECURSIVE_TF_JOIN(a, b) RECURSIVE_TF_JOIN_(a, b)
#define Eigen RECURSIVE_TF_JOIN(Eigen, RECURSIVE_TF_SET)

// That a vector is aligned is no part of what a template is made for.
#pragma GCC diagnostic ignored "-Wignored-attributes"

#include "Eigen/Core"
#include "recursive_tf/cc/blocks/dots_inc.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/blocks/pack_inc.h"
#include "recursive_tf/cc/blocks/pool_inc.h"
#include "recursive_tf/cc/blocks/product_inc.h"
#include "recursive_tf/cc/blocks/row_product_inc.h"
#include "recursive_tf/cc/blocks/tail_inc.h"

namespace recursive_tf {
namespace {

template <typename T>
const Kernels<T>& MakeKernels(const char* name) {
  static constexpr int64_t kLanes = Simd<T>::kLanes;
  static const Kernels<T> kernels = {
      name,       kLanes,      Tile<T>::kVectors, Tile<T>::kRows,
      RunPack<T>, RunGroup<T>, RunTail<T>,        RunPanel<T>,
      RunDots<T>, RunOuter<T>, RunRowProduct<T>,  RunPoolGradient<T>};
  return kernels;
}

}  // namespace
}  // namespace recursive_tf
