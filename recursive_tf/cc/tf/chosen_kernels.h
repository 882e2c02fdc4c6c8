#ifndef RECURSIVE_TF_CC_TF_CHOSEN_KERNELS_H_
#define RECURSIVE_TF_CC_TF_CHOSEN_KERNELS_H_

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/kernels.h"

namespace recursive_tf {

// Returns the best instruction set, or the one that the environment variable
// RTF_INSTRUCTION_SET names; the same in all of a process.
InstructionSet ChosenSet();

// Fails if the variable names what this processor lacks, or what there is not.
// Python asks when it loads the library, and each kernel that runs such code
// when it is made: a saved program may run without Python.
absl::Status CheckChosenSet();

// Returns the code for it.
template <typename T>
const Kernels<T>& ChosenKernels() {
  return KernelsFor<T>(ChosenSet());
}

}  // namespace recursive_tf

// Returns what CheckChosenSet says, or null if all is well; for Python. It is
// the thread's until its next call.
extern "C" const char* recursive_tf_wrong_instruction_set();

#endif  // RECURSIVE_TF_CC_TF_CHOSEN_KERNELS_H_
