#include "recursive_tf/cc/tf/compiled_block.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/batching/run_report.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/fused.h"
#include "recursive_tf/cc/blocks/product_peak.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/block_arguments.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/block_run.h"
#include "recursive_tf/cc/tf/invariants.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/profiler/lib/traceme.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// Shapes of one program hardly change: a block that is compiled for more of
// them runs as a function.
constexpr size_t kMostCompilations = 8;
// From so many rows on, matrices that are read for one step are packed: that
// takes as long as products of some rows. Smaller ones always are.
constexpr int64_t kRowsToPack = 96;
constexpr int64_t kNumbersToStand = int64_t{64} * 1024;

// Returns how many rows there are of which there are most.
int64_t MostRows(const std::vector<RowBatch>& rows) {
  int64_t most = 0;
  for (const RowBatch& each : rows) {
    const tf::TensorShape& shape = each.shape();
    if (shape.dims() > 0) most = std::max(most, shape.dim_size(0));
  }
  return most;
}

}  // namespace

struct CompiledBlock::Compilation {
  std::vector<BlockArgument> arguments;
  // Why it cannot be compiled, or OK.
  absl::Status status;
  ReadBlock block;
  BlockProgram program;
  // Of its products, for each row of an axis.
  std::vector<int64_t> num_flops;
  // Of its matrices: whether a transpose is among them, and a large one.
  bool takes_transposes = false;
  bool are_large = false;

  // Returns where matrices that are read for one root call are best placed,
  // after runs of so many rows.
  Matrices PlaceFor(int64_t num_rows, const CompiledRun& run) const {
    num_rows = std::max(num_rows, run.num_rows_known);
    // Products with a transpose add up in another order where it stands: a
    // guess must not change what a root call gives.
    if (!takes_transposes) num_rows = std::max(num_rows, run.num_rows_guessed);
    return num_rows < kRowsToPack && are_large ? Matrices::kStanding
                                               : Matrices::kPacked;
  }

  // Returns whether an invariant is of numbers that are packed.
  bool IsPacked(const tf::Tensor& invariant) const {
    return invariant.dtype() == block.dtype;
  }
};

struct CompiledBlock::Taken {
  // What ran last, and what it takes beside rows: invariants, then literals.
  const Compilation* last = nullptr;
  std::vector<const tf::Tensor*> tensors;
  // For the type of its numbers.
  BlockMemory<float> floats;
  BlockMemory<double> doubles;

  template <typename T>
  BlockMemory<T>& memory() {
    if constexpr (std::is_same_v<T, float>) {
      return floats;
    } else {
      return doubles;
    }
  }
};

CompiledBlock::CompiledBlock(std::unique_ptr<tf::Graph> graph,
                             std::vector<int32_t> invariants, std::string label)
    : graph_(std::move(graph)),
      invariants_(std::move(invariants)),
      label_(std::move(label)) {}

CompiledBlock::~CompiledBlock() = default;

bool CompiledBlock::IsPossible() const {
  const Compilation* last = last_.load(std::memory_order_acquire);
  return last == nullptr || last->status.ok();
}

std::string CompiledBlock::WhyNot() const {
  const Compilation* last = last_.load(std::memory_order_acquire);
  if (last == nullptr) return "it takes no rows";
  if (!last->status.ok()) return std::string(last->status.message());
  return "there were other rows than before, or a lookup out of range";
}

const CompiledBlock::Compilation* CompiledBlock::Find(
    const std::vector<BlockArgument>& arguments) const {
  const MutexLock lock(&mu_);
  for (const std::unique_ptr<const Compilation>& known : compilations_) {
    if (known->arguments == arguments) return known.get();
  }
  if (compilations_.size() == kMostCompilations) return nullptr;
  auto made = std::make_unique<Compilation>();
  made->arguments = arguments;
  const size_t num_rows_arguments = arguments.size() - invariants_.size();
  made->status =
      ReadBlockGraph(*graph_, static_cast<int32_t>(num_rows_arguments),
                     arguments, &made->block);
  if (made->status.ok()) {
    made->program = Lower(Fused(made->block.graph));
    made->num_flops = ProductFlops(made->program, made->block.graph.num_axes());
    for (const MatrixUse& use : made->program.matrices) {
      const int64_t width = use.num_segments * use.segment_width;
      made->takes_transposes |= use.is_transposed;
      made->are_large |= use.depth * width >= kNumbersToStand;
    }
  }
  compilations_.push_back(std::move(made));
  return compilations_.back().get();
}

namespace {

// Returns whether both are the same memory, used in the same way.
bool IsSame(const tf::Tensor& a, const tf::Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         a.SharesBufferWith(b) && a.data() == b.data();
}

}  // namespace

std::shared_ptr<const void> CompiledBlock::FindKept(
    const Compilation* compilation,
    const std::vector<const tf::Tensor*>& invariants) const {
  const MutexLock lock(&mu_);
  const bool is_same =
      kept_.compilation == compilation &&
      std::equal(kept_.invariants.begin(), kept_.invariants.end(),
                 invariants.begin(), invariants.end(),
                 [&](const tf::Tensor& kept, const tf::Tensor* given) {
                   return !compilation->IsPacked(*given) ||
                          IsSame(kept, *given);
                 });
  return is_same ? kept_.numbers : nullptr;
}

void CompiledBlock::Keep(const Compilation* compilation,
                         const std::vector<const tf::Tensor*>& invariants,
                         std::shared_ptr<const void> numbers) const {
  Kept kept;
  kept.compilation = compilation;
  kept.numbers = std::move(numbers);
  for (const tf::Tensor* invariant : invariants) {
    kept.invariants.push_back(compilation->IsPacked(*invariant) ? *invariant
                                                                : tf::Tensor());
  }
  const MutexLock lock(&mu_);
  kept_ = std::move(kept);
}

namespace {

// Returns the numbers that all that a block gives follows from.
std::vector<int32_t> NumbersThatCount(const ReadBlock& block) {
  std::vector<int32_t> numbers;
  for (const RowLookup& lookup : block.lookups) {
    if (!lookup.is_computed()) numbers.push_back(lookup.number);
  }
  for (const BlockInput& input : block.inputs) {
    if (input.number >= 0) numbers.push_back(input.number);
  }
  for (const RowDraw& draw : block.draws) {
    numbers.insert(numbers.end(),
                   {draw.key, draw.counters[0], draw.counters[1]});
  }
  for (const BlockOutput& output : block.outputs) {
    numbers.insert(numbers.end(), output.numbers.begin(), output.numbers.end());
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

EqualRows GroupRows(const std::vector<std::vector<int64_t>>& numbers,
                    const std::vector<int32_t>& columns, int32_t num_rows) {
  return {
      num_rows,
      [&](int32_t row) {
        uint64_t hash = 0;
        for (const int32_t column : columns) {
          hash = HashCombine(hash, static_cast<uint64_t>(numbers[column][row]));
        }
        return hash;
      },
      [&](int32_t a, int32_t b) {
        return std::all_of(columns.begin(), columns.end(), [&](int32_t column) {
          return numbers[column][a] == numbers[column][b];
        });
      }};
}

}  // namespace

template <typename T>
absl::Status CompiledBlock::RunAs(const BatchedStep& step, Taken* taken,
                                  const std::vector<RowBatch>& rows,
                                  Invariants* invariants,
                                  std::vector<tf::Tensor>* outputs,
                                  CompiledRun* run) const {
  const Compilation& found = *taken->last;
  const std::vector<const tf::Tensor*>& tensors = taken->tensors;
  Invariants::Placed& placed = invariants->PlacedFor(&found);
  if (placed.numbers == nullptr && !invariants->for_once()) {
    placed.numbers = FindKept(&found, tensors);
  }
  BlockRun<T> block_run(&step, &found.block, &found.program, &rows, &tensors,
                        &taken->memory<T>());
  if (!block_run.FindInputs()) return absl::OkStatus();
  const tsl::profiler::TraceMe trace([this] { return label_; });
  placed.num_rows += MostRows(rows);
  // What is kept for the next call, too, is worth packing.
  const Matrices matrices = invariants->for_once()
                                ? found.PlaceFor(placed.num_rows, *run)
                                : Matrices::kPacked;
  if (placed.numbers == nullptr ||
      (placed.are_standing && matrices == Matrices::kPacked)) {
    placed.are_standing = matrices == Matrices::kStanding;
    placed.numbers = block_run.Place(matrices);
    if (!invariants->for_once()) Keep(&found, tensors, placed.numbers);
  }
  run->has_run = true;
  const std::vector<int64_t>& num_rows = block_run.num_rows();
  run->num_flops = std::inner_product(num_rows.begin(), num_rows.end(),
                                      found.num_flops.begin(), int64_t{0});
  run->dtype = found.block.dtype;
  for (const BlockOutput& output : found.block.outputs) {
    if (output.kind != BlockOutput::Kind::kArgument) continue;
    run->bytes_gathered += rows[output.index].ScatteredBytes();
  }
  const absl::Status status = block_run.Compute(
      *static_cast<const BlockInvariants<T>*>(placed.numbers.get()), run->added,
      run->meanwhile, outputs);
  run->num_flops -= block_run.num_flops_spared();
  run->has_run = block_run.has_run();
  if (!run->has_run) outputs->clear();
  return status;
}

CompiledBlock::Taken& CompiledBlock::TakeInvariants(
    Invariants* invariants) const {
  std::shared_ptr<void>& found = invariants->FoundBy(this);
  if (found == nullptr) {
    auto taken = std::make_shared<Taken>();
    taken->tensors.reserve(invariants_.size());
    for (const int32_t index : invariants_) {
      taken->tensors.push_back(&invariants->Get(index));
    }
    found = std::move(taken);
  }
  return *static_cast<Taken*>(found.get());
}

const CompiledBlock::Compilation* CompiledBlock::Find(
    const BatchedStep& step, const std::vector<RowBatch>& rows,
    const std::vector<const tf::Tensor*>& invariants) const {
  // Mostly what ran in the last root call.
  const Compilation* const last = last_.load(std::memory_order_acquire);
  if (last != nullptr &&
      AreArguments(step, rows, invariants, last->arguments)) {
    return last;
  }
  const std::vector<BlockArgument> arguments =
      ArgumentsOf(step, rows, invariants);
  if (arguments.empty()) return nullptr;
  const Compilation* const found = Find(arguments);
  if (found != nullptr) last_.store(found, std::memory_order_release);
  return found;
}

CompiledBlock::Taken* CompiledBlock::Prepare(const BatchedStep& step,
                                             const std::vector<RowBatch>& rows,
                                             Invariants* invariants) const {
  if (MostRows(rows) == 0) return nullptr;
  Taken& taken = TakeInvariants(invariants);
  if (taken.last == nullptr || !AreFirst(rows, taken.last->arguments)) {
    taken.tensors.resize(invariants_.size());
    taken.last = Find(step, rows, taken.tensors);
    if (taken.last != nullptr) {
      for (const tf::Tensor& literal : taken.last->block.literals) {
        taken.tensors.push_back(&literal);
      }
    }
  }
  const bool can_run = taken.last != nullptr && taken.last->status.ok();
  return can_run ? &taken : nullptr;
}

absl::Status CompiledBlock::Run(const BatchedStep& step,
                                const std::vector<RowBatch>& rows,
                                Invariants* invariants,
                                std::vector<tf::Tensor>* outputs,
                                CompiledRun* run) const {
  Taken* const taken = Prepare(step, rows, invariants);
  if (taken == nullptr) return absl::OkStatus();
  return taken->last->block.dtype == tf::DT_FLOAT
             ? RunAs<float>(step, taken, rows, invariants, outputs, run)
             : RunAs<double>(step, taken, rows, invariants, outputs, run);
}

void CompiledRun::AddTo(double seconds, int32_t block,
                        RunReport* report) const {
  report->bytes_moved += bytes_gathered;
  if (!has_run || report->products.empty()) return;
  RunReport::Products& products = report->products[block];
  products.seconds += seconds;
  (dtype == tf::DT_FLOAT ? products.flops : products.flops_of_doubles) +=
      num_flops;
}

std::optional<EqualRows> CompiledBlock::FindEqualRows(
    const BatchedStep& step, const std::vector<RowBatch>& rows,
    const std::vector<int32_t>& kept, Invariants* invariants) const {
  const bool are_numbers =
      std::all_of(rows.begin(), rows.end(), [&](const RowBatch& each) {
        return IsWholeNumber(each.dtype()) && each.shape().dims() == 1 &&
               each.shape() == rows.front().shape();
      });
  if (!are_numbers) return std::nullopt;
  const Taken* const taken = Prepare(step, rows, invariants);
  if (taken == nullptr) return std::nullopt;
  const ReadBlock& block = taken->last->block;
  // Items of lists are not rows that are shared.
  if (!block.owners.empty()) return std::nullopt;
  const int64_t num_rows = rows.front().shape().dim_size(0);
  std::vector<int64_t> num_rows_by_axis(block.graph.num_axes(), num_rows);
  std::vector<std::vector<int64_t>> numbers;
  if (!FindNumbers(block.numbers, rows, taken->tensors, &num_rows_by_axis,
                   &numbers)) {
    return std::nullopt;
  }
  // What is computed follows from these; what is kept or given as it is may be
  // read for something else.
  std::vector<int32_t> columns = NumbersThatCount(block);
  const auto add_column = [&](int32_t argument) {
    columns.push_back(static_cast<int32_t>(numbers.size()));
    ReadNumbers(rows[argument].AsTensor(), num_rows, &numbers.emplace_back());
  };
  for (const int32_t argument : kept) add_column(argument);
  for (const BlockOutput& output : block.outputs) {
    if (output.kind == BlockOutput::Kind::kArgument) add_column(output.index);
  }
  return GroupRows(numbers, columns, static_cast<int32_t>(num_rows));
}

}  // namespace recursive_tf
