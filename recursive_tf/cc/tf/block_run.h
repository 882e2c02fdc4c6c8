#ifndef RECURSIVE_TF_CC_TF_BLOCK_RUN_H_
#define RECURSIVE_TF_CC_TF_BLOCK_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/block_runner.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/locked_variables.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// What runs of one block program hold, one after the other: the next one uses
// the memory again.
template <typename T>
struct BlockMemory {
  // First what is given, then what is computed, too.
  BlockRows<T> placed;
  std::vector<tensorflow::Tensor> buffers;
  // By number, by lookup, and by draw.
  std::vector<std::vector<int64_t>> numbers;
  std::vector<std::vector<T*>> lookups;
  std::vector<std::vector<T>> draws;
  // Of inputs that are whole numbers or bools.
  std::vector<std::vector<T>> cast;
};

// One run of a block program on tensors: rows, numbers that select rows, and
// what is looked up. T is the type of the block's numbers.
template <typename T>
class BlockRun {
 public:
  // All of them must outlive this. There are rows. The invariants have the
  // block's literals behind them. No other run holds the memory.
  BlockRun(const BatchedStep* step, const ReadBlock* block,
           const BlockProgram* program, const std::vector<RowBatch>* rows,
           const std::vector<const tensorflow::Tensor*>* invariants,
           BlockMemory<T>* memory);
  ~BlockRun() { memory_.buffers.clear(); }
  BlockRun(const BlockRun&) = delete;
  BlockRun& operator=(const BlockRun&) = delete;

  // Finds the rows that the program takes. Returns false if the function has to
  // run instead: a lookup is out of range, or in a variable that has got
  // another shape; or there are not as many of some rows as of others.
  // Variables are locked until this is gone.
  bool FindInputs();

  // By axis. REQUIRES: the inputs are found.
  const std::vector<int64_t>& num_rows() const {
    return memory_.placed.num_rows;
  }

  // Returns what all runs take beside rows.
  std::shared_ptr<const BlockInvariants<T>> Place(Matrices matrices) const;

  // Sets `*outputs`, unless the function has to run instead. The leading thread
  // does something else meanwhile, if work is shared and `meanwhile` is
  // anything. `added` is as CompiledRun's. REQUIRES: the inputs are found.
  absl::Status Compute(const BlockInvariants<T>& placed,
                       const std::vector<AddedOutput>& added,
                       const std::function<void()>& meanwhile,
                       std::vector<tensorflow::Tensor>* outputs);

  // Returns whether the outputs are set: no lookup of a number that the block
  // computes was out of range.
  bool has_run() const { return has_run_; }

  // Returns how many operations of products were spared, as BlockRunner says.
  int64_t num_flops_spared() const { return num_flops_spared_; }

 private:
  RowSet<T> RowsOf(const RowBatch& rows, size_t part) const;
  bool CountRows();
  // Returns whether `added` says something of an output, for these rows.
  bool Fits(const AddedOutput& added, const BlockOutput& output) const;
  // Says of the graph's outputs which of their rows are added up.
  void PlaceAdded(const std::vector<AddedOutput>& added);
  bool OpenVariables();
  RowSet<T> FindInput(const BlockInput& input);
  // Returns how many rows of it may come several times.
  int64_t NumShared(const BlockInput& input) const;
  RowSet<T> RowsOfBools(const tensorflow::Tensor& tensor);
  // Returns whether a tensor has such rows as it had when the block was read.
  bool IsTableOf(const RowLookup& lookup,
                 const tensorflow::Tensor& table) const;
  bool FindRows(const RowLookup& lookup, const tensorflow::Tensor& table,
                std::vector<T*>* found) const;
  // Sets bools that the program gave as 1 and 0, and whole numbers.
  void SetCast(const BlockOutput& output, tensorflow::Tensor* tensor) const;
  static bool IsCast(const BlockOutput& output) {
    return output.kind == BlockOutput::Kind::kGraph &&
           IsWholeNumber(output.dtype);
  }
  // What is computed is in one of the buffers; a sum is 0.
  absl::Status SetOutput(const BlockOutput& output,
                         tensorflow::Tensor* tensor) const;

  const BatchedStep& step_;
  const ReadBlock& block_;
  const BlockProgram& program_;
  const std::vector<RowBatch>& rows_;
  const std::vector<const tensorflow::Tensor*>& invariants_;
  const Kernels<T>& kernels_;
  BlockMemory<T>& memory_;
  bool has_run_ = true;
  int64_t num_flops_spared_ = 0;
  // Those that lookups are in, in their order.
  LockedVariables<tensorflow::tf_shared_lock> variables_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BLOCK_RUN_H_
