#ifndef RECURSIVE_TF_CC_TF_BATCHED_PROGRAM_H_
#define RECURSIVE_TF_CC_TF_BATCHED_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/compiled_block.h"
#include "recursive_tf/cc/tf/function_on_demand.h"
#include "recursive_tf/cc/tf/invariants.h"
#include "recursive_tf/cc/tf/looked_up.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// A part of a batched program: a function, and what it takes after its rows.
struct BlockSpec {
  std::string function;
  // Outputs of the prologue.
  std::vector<int32_t> invariants;
  // From how many rows on a product is worth a transposed matrix.
  int64_t num_rows_to_transpose = 0;
  // Whether it may run as a block program, and what a profile calls that.
  bool is_compiled = false;
  std::string label{};
  // Whether rows that compute the same are computed once.
  bool shares_rows = false;
  // Of a function: its operations run on teams, if there is one.
  std::optional<TeamSchedule> schedule{};
};

// What the attributes of a batched root op say of its program.
struct BatchedSpec {
  // Both root ops, forward and backward, have these.
  static absl::Status Read(tensorflow::OpKernelConstruction* ctx,
                           BatchedSpec* spec);
  // Reads a list of functions with their invariants: the attributes `name`,
  // `name`_invariant_counts and `name`_invariants.
  static absl::Status ReadBlocks(tensorflow::OpKernelConstruction* ctx,
                                 const std::string& name,
                                 int64_t num_rows_to_transpose,
                                 std::vector<BlockSpec>* blocks);

  // Reads which blocks share rows.
  static absl::Status ReadSharing(tensorflow::OpKernelConstruction* ctx,
                                  std::vector<BlockSpec>* blocks);

  // Reads whether blocks may run as block programs, and else on which teams.
  static absl::Status ReadBlockKind(tensorflow::OpKernelConstruction* ctx,
                                    std::vector<BlockSpec>* blocks);

  void AddToFingerprint(const std::vector<int64_t>& numbers);

  // Of the plan and of what is kept for gradients: the same for a forward op in
  // training form and its gradients, whatever has been saved and loaded in
  // between.
  uint64_t fingerprint = 0;
  Plan plan;
  bool has_gradients = false;
  GradientPlan gradients;
  // For people: of SubGraphs and of blocks.
  std::vector<std::string> names;
  std::vector<std::string> block_names;
};

// A function of rows and of outputs of the prologue, ready to run.
//
// Thread safety: Run may be called from any thread. What it makes at first use,
// it locks.
class Block {
 public:
  static absl::Status Create(const BlockSpec& spec,
                             tensorflow::FunctionLibraryRuntime* runtime,
                             tensorflow::FunctionLibraryDefinition* library,
                             std::unique_ptr<Block>* block);

  // Sets `*outputs` to what `rows` give: with a block program, of which
  // `*program` tells then, or with the function. REQUIRES: there are as many
  // invariants as the spec names; root ops check that before they run any.
  absl::Status Run(const BatchedStep& step, std::vector<RowBatch> rows,
                   Invariants* invariants,
                   std::vector<tensorflow::Tensor>* outputs,
                   CompiledRun* program) const;

  // Returns whether rows that compute the same may be found, and are wanted.
  bool SharesRows() const { return spec_.shares_rows && compiled_ != nullptr; }

  // Returns which rows compute the same, as CompiledBlock does; none too if
  // they are not to be shared.
  std::optional<EqualRows> FindEqualRows(const BatchedStep& step,
                                         const std::vector<RowBatch>& rows,
                                         const std::vector<int32_t>& kept,
                                         Invariants* invariants) const {
    if (!SharesRows()) return std::nullopt;
    return compiled_->FindEqualRows(step, rows, kept, invariants);
  }

  // Returns whether rows may stand where they are: if a block program takes
  // them, as far as is known.
  bool TakesAddresses() const {
    return compiled_ != nullptr && compiled_->IsPossible();
  }

  // What the outputs are for every number that is the only row, from 0 on.
  struct KnownRows {
    std::vector<tensorflow::Tensor> outputs;
    int32_t num_rows = 0;
    // Whether they are outputs of the prologue, or constants.
    bool are_borrowed = false;
  };

  // Sets `*known` to that, if all that the block does is to look up rows, or
  // numbers that it computes with, and if it takes little time for a root call
  // of so many rows; or to no outputs. REQUIRES: as Run.
  absl::Status FindKnownRows(const BatchedStep& step, int32_t num_rows,
                             const std::vector<tensorflow::Tensor>& prologue,
                             Invariants* invariants, KnownRows* known) const;

  bool may_print() const { return may_print_; }

  // Returns for how many rows the last run of the program wanted its outputs.
  int64_t num_rows_last() const {
    return num_rows_last_.load(std::memory_order_relaxed);
  }
  void set_num_rows_last(int64_t num_rows) const {
    num_rows_last_.store(num_rows, std::memory_order_relaxed);
  }

  // Returns why the last run was with the function.
  std::string WhyNotCompiled() const;

 private:
  bool IsWide(const std::vector<RowBatch>& rows) const;
  void FindTables(const tensorflow::FunctionDef& function,
                  const tensorflow::Graph& body);
  // Returns whether it is worth it to compute so many rows before anybody wants
  // any.
  bool MayComputeAhead(int64_t size, int32_t num_rows) const;
  absl::Status ComputeAhead(const BatchedStep& step, int64_t size,
                            Invariants* invariants, KnownRows* known) const;

  BlockSpec spec_;
  bool may_print_ = false;
  std::unique_ptr<FunctionOnDemand> function_;
  // TablesOfRows or, if there are none, TablesOfNumbers; of outputs of the
  // prologue, not of the block's own invariants.
  std::vector<LookedUpTable> tables_;
  bool gives_rows_ = false;
  tensorflow::DataType number_type_ = tensorflow::DT_INVALID;
  // What runs learn of each other.
  mutable std::atomic<int64_t> num_rows_last_{0};
  // If it can be.
  std::unique_ptr<CompiledBlock> compiled_;
  // For many rows: takes some invariants transposed. Null if none of them are
  // multiplied like that.
  std::unique_ptr<FunctionOnDemand> wide_function_;
  // By invariant.
  std::vector<bool> is_transposed_;
};

// The functions of a list of blocks, made once for a root kernel.
//
// Thread safety: that of its blocks.
class Blocks {
 public:
  static absl::Status Create(const std::vector<BlockSpec>& specs,
                             tensorflow::FunctionLibraryRuntime* runtime,
                             std::unique_ptr<Blocks>* blocks);
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  const Block& operator[](size_t index) const { return *blocks_[index]; }
  size_t size() const { return blocks_.size(); }

  // Of the team of the last step, those that had something to do.
  int team_size() const { return team_size_.load(std::memory_order_relaxed); }
  void set_team_size(int size) const {
    team_size_.store(size, std::memory_order_relaxed);
  }

 private:
  explicit Blocks(const tensorflow::FunctionLibraryDefinition& library)
      : library_(library) {}

  // What the kernels know of their ops is in it.
  tensorflow::FunctionLibraryDefinition library_;
  std::vector<std::unique_ptr<Block>> blocks_;
  // What steps learn of each other.
  mutable std::atomic<int> team_size_{1};
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BATCHED_PROGRAM_H_
