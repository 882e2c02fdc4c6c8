#ifndef RECURSIVE_TF_CC_TF_COMPILED_BLOCK_H_
#define RECURSIVE_TF_CC_TF_COMPILED_BLOCK_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/batching/run_report.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/invariants.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// A run of a function as a block program, and what came of it.
struct CompiledRun {
  // Adds what was copied, and what products did in so many seconds, to a
  // report.
  void AddTo(double seconds, int32_t block, RunReport* report) const;

  // From who runs the block, if it is anything: what the leading thread does
  // once, while others compute.
  std::function<void()> meanwhile;
  // From who runs the block: how many rows all its runs of this root call have,
  // if that is known, and how many they may have.
  int64_t num_rows_known = 0;
  int64_t num_rows_guessed = 0;
  // From who runs the block: which rows of outputs are only added up. Empty, or
  // by output; nothing if all rows are taken.
  std::vector<AddedOutput> added;
  // Whether it was run as one.
  bool has_run = false;
  // Of rows that stood scattered, and were made tensors.
  int64_t bytes_gathered = 0;
  // Operations of its products (product_peak.h), of that type.
  int64_t num_flops = 0;
  tensorflow::DataType dtype = tensorflow::DT_FLOAT;
};

// A function of rows as a block program, compiled when the shapes of its rows
// are known: at its first run.
//
// Thread safety: Run may be called from any thread.
class CompiledBlock {
 public:
  // Takes the function's body, which invariants its last arguments are, and
  // what a profile calls a run.
  CompiledBlock(std::unique_ptr<tensorflow::Graph> graph,
                std::vector<int32_t> invariants, std::string label);
  ~CompiledBlock();

  // Sets `*outputs` and `*run`, unless the rows are such that the function has
  // to run: what it does then is not what a program does.
  absl::Status Run(const BatchedStep& step, const std::vector<RowBatch>& rows,
                   Invariants* invariants,
                   std::vector<tensorflow::Tensor>* outputs,
                   CompiledRun* run) const;

  // Returns which rows are the same in all that is computed of them, given
  // `arguments` of which they are kept; none if that is not known of whole
  // numbers alone, or if the function has to run.
  std::optional<EqualRows> FindEqualRows(const BatchedStep& step,
                                         const std::vector<RowBatch>& rows,
                                         const std::vector<int32_t>& kept,
                                         Invariants* invariants) const;

  // Returns whether the last compilation was possible, or there was none.
  bool IsPossible() const;

  // Returns why the function had to run, the last time that it had.
  std::string WhyNot() const;

 private:
  // For some shapes.
  struct Compilation;

  // What was packed of invariants, which nobody changes while it is kept: a
  // variable that is assigned gets other memory.
  struct Kept {
    const Compilation* compilation = nullptr;
    std::vector<tensorflow::Tensor> invariants;
    std::shared_ptr<const void> numbers;
  };

  // What the runs of a root call have in common: for which shapes the last one
  // is, what it takes beside rows, and memory.
  struct Taken;

  // Returns that, for such rows; null if the function has to run.
  Taken* Prepare(const BatchedStep& step, const std::vector<RowBatch>& rows,
                 Invariants* invariants) const;
  Taken& TakeInvariants(Invariants* invariants) const;
  template <typename T>
  absl::Status RunAs(const BatchedStep& step, Taken* taken,
                     const std::vector<RowBatch>& rows, Invariants* invariants,
                     std::vector<tensorflow::Tensor>* outputs,
                     CompiledRun* run) const;
  // Returns what is compiled for some rows and invariants; null if there are
  // too many others, or if rows have no shape.
  const Compilation* Find(
      const BatchedStep& step, const std::vector<RowBatch>& rows,
      const std::vector<const tensorflow::Tensor*>& invariants) const;
  const Compilation* Find(const std::vector<BlockArgument>& arguments) const;
  // Returns what is kept for just these invariants, or null.
  std::shared_ptr<const void> FindKept(
      const Compilation* compilation,
      const std::vector<const tensorflow::Tensor*>& invariants) const;
  void Keep(const Compilation* compilation,
            const std::vector<const tensorflow::Tensor*>& invariants,
            std::shared_ptr<const void> numbers) const;

  const std::unique_ptr<tensorflow::Graph> graph_;
  const std::vector<int32_t> invariants_;
  const std::string label_;
  // The one that ran last.
  mutable std::atomic<const Compilation*> last_{nullptr};
  mutable Mutex mu_;
  mutable std::vector<std::unique_ptr<const Compilation>> compilations_
      ABSL_GUARDED_BY(mu_);
  mutable Kept kept_ ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_COMPILED_BLOCK_H_
