#ifndef RECURSIVE_TF_CC_TF_BATCHED_FORWARD_H_
#define RECURSIVE_TF_CC_TF_BATCHED_FORWARD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/base/census.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/launch_bound.h"
#include "recursive_tf/cc/batching/launch_reads.h"
#include "recursive_tf/cc/batching/launch_recorder.h"
#include "recursive_tf/cc/batching/looked_at.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/report_board.h"
#include "recursive_tf/cc/batching/run_report.h"
#include "recursive_tf/cc/batching/steps.h"
#include "recursive_tf/cc/tf/batched_errors.h"
#include "recursive_tf/cc/tf/batched_host.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/batched_pushes.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/batched_tape.h"
#include "recursive_tf/cc/tf/compiled_block.h"
#include "recursive_tf/cc/tf/invariants.h"
#include "recursive_tf/cc/tf/late_parts.h"
#include "recursive_tf/cc/tf/push_table.h"
#include "recursive_tf/cc/tf/returned.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_values.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// How a batched program is run forward: constant for a root kernel.
struct BatchedForwardSpec {
  explicit BatchedForwardSpec(const BatchedSpec* program)
      : program(*program),
        order(program->plan),
        flow(FindFlow(program->plan)),
        looked_at(FindLookedAt(program->plan)) {}

  const BatchedSpec& program;
  const BlockOrder order;
  // If the plan is one.
  const std::optional<Flow> flow;
  // Of each block: whether calls are followed by what it gives.
  const std::vector<bool> looked_at;
  LateParts late;
  // Where its runs leave reports: those of its first procedure's function.
  std::shared_ptr<LastRuns> runs;
  // Of each block, its procedure and its stage.
  std::vector<std::string> block_places;
  std::unique_ptr<const Policy> policy;
  ActivationLimits limits;
  bool mapped = false;
  bool keep = false;
};

// One forward root call: all of its activations in lock step.
class BatchedForward {
 public:
  // All of them must outlive this. `blocks` are the plan's, then the prologue,
  // and then its late parts.
  BatchedForward(const BatchedForwardSpec* spec, const Blocks* blocks,
                 const BatchedStep* step,
                 std::vector<std::unique_ptr<PushTable>>* pushes);

  // Runs the program for every row of `arguments`. `captures` are those that
  // the prologue takes.
  absl::Status Run(const std::vector<tensorflow::Tensor>& arguments,
                   int32_t num_rows, std::vector<tensorflow::Tensor> captures);

  // Sets `*results` to what the rows returned. REQUIRES: there are rows.
  absl::Status Results(std::vector<tensorflow::Tensor>* results);

  // Ends the run, which returned that: leaves a report and a recording, and
  // returns what the gradient needs.
  std::shared_ptr<BatchedRecord> Finish(Returned returned);

 private:
  absl::Status RunPrologue(std::vector<tensorflow::Tensor> captures,
                           int32_t num_rows);
  // Adds what blocks look up, for those that need no launch then.
  absl::Status AddTables(int32_t num_rows);
  // Runs late parts, unless they ran already.
  absl::Status RunLate(const std::vector<int32_t>& parts);
  absl::Status RunAll();
  absl::Status RunLaunch(Launch* launch);
  // Follows the calls of a launch while it is computed.
  void GoOn(const Launch& launch);
  // What a launch gave, and what it took if that may be kept.
  struct Computed {
    std::vector<RowBatch> inputs;
    std::vector<tensorflow::Tensor> outputs;
    CompiledRun program;
  };
  absl::Status RunBlock(const Launch& launch, std::vector<RowBatch> inputs,
                        Computed* computed);
  // The same; refused if it would hold more than may be, as it seems.
  absl::Status RunWithinLimits(Launch* launch);
  // Returns the error of a launch that gave `status`, and finds whose it is, if
  // that can be.
  absl::Status FindFailure(const Launch& launch, absl::Status status);
  int64_t num_bytes() const {
    return values_.bytes_alive() + tape_.num_bytes();
  }
  bool IsTaped(int32_t block) const { return spec_.keep && tape_.Takes(block); }
  void AddTo(LaunchBound* bound, const Launch& launch,
             int32_t num_values) const;
  absl::Status CollectInputs(const Launch& launch,
                             std::vector<RowBatch>* inputs);
  // Has activations that compute the same share rows, where that is wanted:
  // `*inputs` are those of the first of each then.
  void ShareRows(Launch* launch, std::vector<RowBatch>* inputs);
  // Checks that there are as many items as are counted.
  absl::Status CheckItems(const Launch& launch);
  absl::Status CheckRows(const Launch& launch,
                         const std::vector<tensorflow::Tensor>& outputs) const;
  void AddValue(tensorflow::Tensor rows, bool are_shared = false);
  // Does what is left to do after the steps went on.
  absl::Status CatchUp();

  const Census::One census_{Census::Kind::kRuns};
  const BatchedForwardSpec& spec_;
  const Blocks& blocks_;
  const BatchedStep& step_;
  const std::shared_ptr<BatchedRecord> record_;
  BatchedTape tape_;
  BatchedPushes pushes_;
  RowValues values_;
  BatchedHost host_;
  // If runs are recorded.
  std::optional<LaunchRecorder> recorder_;
  const std::unique_ptr<Steps> steps_;
  const BatchedErrors errors_;
  Invariants invariants_;
  // By late part: whether it ran.
  std::vector<bool> has_run_;
  // Whether the calls of the launch that runs were followed meanwhile, and how
  // long its block ran before.
  bool has_gone_on_ = false;
  double seconds_before_going_on_ = 0;
  // Of the launch that failed, if that was found.
  std::optional<int64_t> failed_row_;
  // By block: what a row of its last launch took more.
  std::vector<double> bytes_per_row_;
  // If somebody watches.
  std::optional<LaunchBound> bound_;
  std::optional<LaunchReads> reads_;
  RunReport report_;
  Stopwatch watch_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BATCHED_FORWARD_H_
