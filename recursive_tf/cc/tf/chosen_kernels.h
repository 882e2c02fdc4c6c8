#ifndef RECURSIVE_TF_CC_TF_CHOSEN_KERNELS_H_
#define RECURSIVE_TF_CC_TF_CHOSEN_KERNELS_H_

#include "recursive_tf/cc/blocks/kernels.h"

namespace recursive_tf {

// Returns the best instruction set, or the one that the environment variable
// RTF_INSTRUCTION_SET names.
InstructionSet ChosenSet();

// Returns the code for it.
template <typename T>
const Kernels<T>& ChosenKernels() {
  return KernelsFor<T>(ChosenSet());
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_CHOSEN_KERNELS_H_
