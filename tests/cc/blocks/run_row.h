#ifndef TESTS_CC_BLOCKS_RUN_ROW_H_
#define TESTS_CC_BLOCKS_RUN_ROW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"

namespace recursive_tf {

inline const char* NameOf(Opcode opcode) {
  switch (opcode) {
#define RECURSIVE_TF_OPCODE(name, arity) \
  case Opcode::name:                     \
    return #name;
    RECURSIVE_TF_OPCODES(RECURSIVE_TF_OPCODE)
#undef RECURSIVE_TF_OPCODE
  }
  return "";
}

inline std::vector<Opcode> AllOpcodes() {
  return {
#define RECURSIVE_TF_OPCODE(name, arity) Opcode::name,
      RECURSIVE_TF_OPCODES(RECURSIVE_TF_OPCODE)
#undef RECURSIVE_TF_OPCODE
  };
}

template <typename T>
using Columns = std::vector<T>;

// Runs an instruction for one row; `out` is as wide as the operands.
template <typename T>
void RunRow(const Kernels<T>& kernels, Instruction instruction, Columns<T>* out,
            const std::vector<const Columns<T>*>& operands) {
  std::vector<RowSet<T>> sets = {{out->data(), 0}};
  for (size_t i = 0; i < operands.size(); ++i) {
    // Nothing writes to operands.
    sets.push_back({const_cast<T*>(operands[i]->data()), 0});
    instruction.in[i] = static_cast<int32_t>(i) + 1;
  }
  const auto width = static_cast<int64_t>(operands[0]->size());
  kernels.tail({&instruction, 1, sets.data(), 0, 1, width});
}

template <typename T>
Columns<T> RunOpcode(const Kernels<T>& kernels, Opcode opcode,
                     const Columns<T>& a, const Columns<T>& b,
                     const Columns<T>& c) {
  Columns<T> out(a.size());
  Instruction instruction;
  instruction.opcode = opcode;
  std::vector<const Columns<T>*> operands = {&a, &b, &c};
  operands.resize(Arity(opcode));
  RunRow(kernels, instruction, &out, operands);
  return out;
}

// Calls check(kernels) for each instruction set and both types.
template <typename CheckKernels>
void ForAllKernels(const CheckKernels& check) {
  for (const InstructionSet set : InstructionSets()) {
    SCOPED_TRACE(KernelsFor<float>(set).name);
    {
      SCOPED_TRACE("float");
      check(KernelsFor<float>(set));
    }
    SCOPED_TRACE("double");
    check(KernelsFor<double>(set));
  }
}

}  // namespace recursive_tf

#endif  // TESTS_CC_BLOCKS_RUN_ROW_H_
