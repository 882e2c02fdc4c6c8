#ifndef RECURSIVE_TF_CC_TF_LATE_PARTS_H_
#define RECURSIVE_TF_CC_TF_LATE_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// What of the prologue waits until a block takes it, because it may fail: see
// recursive_tf/python/batching/vectorize/late_parts.py. Constant for a root
// kernel.
struct LateParts {
  // Reads the attributes of the root op, and adds what the parts run to
  // `blocks`.
  static absl::Status Read(tensorflow::OpKernelConstruction* ctx,
                           int32_t num_blocks, LateParts* parts,
                           std::vector<BlockSpec>* blocks);

  // Puts what is computed first where the parts leave room, in order.
  // `*outputs` are then all outputs of the prologue. REQUIRES: the program was
  // bound.
  void MakeRoom(std::vector<tensorflow::Tensor>* outputs) const;

  // By part: which outputs of the prologue it gives.
  std::vector<std::vector<int32_t>> outputs;
  // By block: the parts that it needs, each behind those that it takes of.
  std::vector<std::vector<int32_t>> of_block;
  // What values need that the plan names.
  std::vector<int32_t> at_start;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_LATE_PARTS_H_
