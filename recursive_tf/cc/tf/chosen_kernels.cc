#include "recursive_tf/cc/tf/chosen_kernels.h"

#include <string>

#include "recursive_tf/cc/blocks/kernels.h"
#include "tensorflow/core/util/env_var.h"

namespace recursive_tf {

InstructionSet ChosenSet() {
  static const InstructionSet chosen = [] {
    std::string name;
    if (!tensorflow::ReadStringFromEnvVar("RTF_INSTRUCTION_SET", "", &name)
             .ok()) {
      name.clear();
    }
    return InstructionSetOf(name);
  }();
  return chosen;
}

}  // namespace recursive_tf
