#ifndef RECURSIVE_TF_CC_LAYOUT_OPERAND_BATCH_H_
#define RECURSIVE_TF_CC_LAYOUT_OPERAND_BATCH_H_

#include <cstdint>
#include <vector>

namespace recursive_tf {

// Variables that a batch reads, or writes, one after the other.
using Operand = std::vector<int32_t>;

// A batch: operands of equal length, first what it writes. What stands at one
// place of each belongs together: what one operation reads and writes.
using OperandBatch = std::vector<Operand>;

// By batch: some of its operands, by number.
using OperandNumbers = std::vector<std::vector<int32_t>>;

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_LAYOUT_OPERAND_BATCH_H_
