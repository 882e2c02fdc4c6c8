#include "recursive_tf/cc/tf/compiled_block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/block_runner.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/invariants.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// Shapes of one program hardly change: a block that is compiled for more of
// them runs as a function.
constexpr size_t kMostCompilations = 8;

std::vector<int64_t> ShapeOf(const tf::Tensor& tensor, int first_dim) {
  std::vector<int64_t> shape;
  for (int i = first_dim; i < tensor.dims(); ++i) {
    shape.push_back(tensor.dim_size(i));
  }
  return shape;
}

tf::TensorShape TensorShapeOf(const std::vector<int64_t>& shape) {
  tf::TensorShape made;
  for (const int64_t size : shape) made.AddDim(size);
  return made;
}

// Returns none of what is no variable that holds something.
std::vector<int64_t> ShapeOfVariable(const BatchedStep& step,
                                     const tf::Tensor& handle) {
  tf::core::RefCountPtr<tf::Var> variable;
  if (!tf::LookupResource(step.root(), handle.flat<tf::ResourceHandle>()(0),
                          &variable)
           .ok()) {
    return {};
  }
  const tf::tf_shared_lock lock(*variable->mu());
  return ShapeOf(*variable->tensor(), 0);
}

// A variable that rows are looked up in, locked while they are read.
struct OpenTable {
  tf::core::RefCountPtr<tf::Var> variable;
  std::unique_ptr<tf::tf_shared_lock> lock;
};

}  // namespace

struct CompiledBlock::Compilation {
  std::vector<BlockArgument> arguments;
  // Why it cannot be compiled, or OK.
  absl::Status status;
  ReadBlock block;
  BlockProgram program;

  // Returns whether an invariant is of numbers that are packed.
  bool IsPacked(const tf::Tensor& invariant) const {
    return invariant.dtype() == block.dtype;
  }
};

CompiledBlock::CompiledBlock(std::unique_ptr<tf::Graph> graph,
                             std::vector<int32_t> invariants)
    : graph_(std::move(graph)), invariants_(std::move(invariants)) {}

CompiledBlock::~CompiledBlock() = default;

std::string CompiledBlock::WhyNot() const {
  const Compilation* last = last_.load(std::memory_order_acquire);
  if (last == nullptr) return "it takes no rows";
  if (!last->status.ok()) return std::string(last->status.message());
  return "few rows for a large matrix, or rows of several numbers or shapes, "
         "or "
         "of which one looks up what is not there";
}

const CompiledBlock::Compilation* CompiledBlock::Find(
    const std::vector<BlockArgument>& arguments) const {
  const Compilation* last = last_.load(std::memory_order_acquire);
  if (last != nullptr && last->arguments == arguments) return last;
  const MutexLock lock(&mu_);
  for (const std::unique_ptr<const Compilation>& known : compilations_) {
    if (known->arguments == arguments) {
      last_.store(known.get(), std::memory_order_release);
      return known.get();
    }
  }
  if (compilations_.size() == kMostCompilations) return nullptr;
  auto made = std::make_unique<Compilation>();
  made->arguments = arguments;
  const size_t num_rows_arguments = arguments.size() - invariants_.size();
  made->status =
      ReadBlockGraph(*graph_, static_cast<int32_t>(num_rows_arguments),
                     arguments, &made->block);
  if (made->status.ok()) {
    std::optional<BlockProgram> program = Lower(Fused(made->block.graph));
    if (program.has_value()) {
      made->program = *std::move(program);
    } else {
      made->status =
          absl::UnimplementedError("products that are read in several ways");
    }
  }
  last_.store(made.get(), std::memory_order_release);
  compilations_.push_back(std::move(made));
  return compilations_.back().get();
}

namespace {

// One run of a compilation.
template <typename T>
class ProgramRun {
 public:
  ProgramRun(const BatchedStep& step, const ReadBlock& block,
             const BlockProgram& program, const std::vector<tf::Tensor>& rows,
             const std::vector<const tf::Tensor*>& invariants)
      : step_(step),
        block_(block),
        program_(program),
        rows_(rows),
        invariants_(invariants),
        num_rows_(rows.front().dim_size(0)),
        kernels_(KernelsFor<T>(ChosenInstructionSet())) {}

  // Returns false if the function has to run.
  bool FindInputs() {
    for (const tf::Tensor& rows : rows_) {
      const bool has_numbers = rows.dtype() == block_.dtype;
      const int64_t width = rows.NumElements() / num_rows_;
      inputs_.push_back(has_numbers
                            ? RowSet<T>{static_cast<T*>(rows.data()), width}
                            : RowSet<T>());
    }
    numbers_.resize(block_.numbers.size());
    for (size_t i = 0; i < numbers_.size(); ++i) {
      if (!FindNumbers(block_.numbers[i], &numbers_[i])) return false;
    }
    lookups_.resize(block_.lookups.size());
    for (size_t i = 0; i < lookups_.size(); ++i) {
      if (!FindRows(block_.lookups[i], &lookups_[i])) return false;
    }
    for (const std::vector<T*>& pointers : lookups_) {
      inputs_.push_back({nullptr, 0, pointers.data()});
    }
    return true;
  }

  void Compute(const BlockInvariants<T>& packed,
               std::vector<tf::Tensor>* outputs) {
    std::vector<tf::Tensor> buffers;
    std::vector<T*> memory;
    for (const int64_t width : program_.buffers) {
      buffers.emplace_back(block_.dtype, tf::TensorShape({num_rows_, width}));
      memory.push_back(static_cast<T*>(buffers.back().data()));
    }
    std::vector<T*> sums(block_.graph.outputs.size(), nullptr);
    outputs->resize(block_.outputs.size());
    for (size_t i = 0; i < block_.outputs.size(); ++i) {
      const BlockOutput& output = block_.outputs[i];
      tf::Tensor& tensor = (*outputs)[i];
      if (output.kind == BlockOutput::Kind::kArgument) {
        CHECK(tensor.CopyFrom(rows_[output.index], ShapeOfRows(output)));
      } else if (output.kind == BlockOutput::Kind::kNumber) {
        SetNumbers(output, &tensor);
      } else if (!output.has_rows) {
        tensor = tf::Tensor(block_.dtype, TensorShapeOf(output.shape));
        T* const numbers = static_cast<T*>(tensor.data());
        std::fill_n(numbers, tensor.NumElements(), T(0));
        sums[output.index] = numbers;
      }
    }
    BlockRunner<T> runner(&program_, &kernels_, &packed, &step_.team());
    runner.Run(num_rows_, inputs_, memory, sums);
    for (size_t i = 0; i < block_.outputs.size(); ++i) {
      const BlockOutput& output = block_.outputs[i];
      if (output.kind != BlockOutput::Kind::kGraph || !output.has_rows) {
        continue;
      }
      const int32_t buffer = *program_.output_buffers[output.index];
      CHECK((*outputs)[i].CopyFrom(buffers[buffer], ShapeOfRows(output)));
    }
  }

  const Kernels<T>& kernels() const { return kernels_; }

  // What the program takes by number.
  std::vector<typename BlockInvariants<T>::Numbers> Invariants() const {
    std::vector<typename BlockInvariants<T>::Numbers> numbers;
    const auto add = [&](const tf::Tensor& tensor) {
      const bool has_numbers = tensor.dtype() == block_.dtype;
      numbers.push_back(
          {has_numbers ? static_cast<const T*>(tensor.data()) : nullptr,
           tensor.NumElements()});
    };
    for (const tf::Tensor* tensor : invariants_) add(*tensor);
    for (const tf::Tensor& tensor : block_.literals) add(tensor);
    return numbers;
  }

 private:
  // A row may have got another shape than it had.
  tf::TensorShape ShapeOfRows(const BlockOutput& output) const {
    tf::TensorShape shape = TensorShapeOf(output.shape);
    shape.InsertDim(0, num_rows_);
    return shape;
  }

  template <typename Integer>
  static void Copy(const tf::Tensor& from, std::vector<int64_t>* to) {
    const auto* const numbers = static_cast<const Integer*>(from.data());
    to->assign(numbers, numbers + from.NumElements());
  }

  static void CopyIntegers(const tf::Tensor& from, std::vector<int64_t>* to) {
    if (from.dtype() == tf::DT_INT32) return Copy<int32_t>(from, to);
    Copy<int64_t>(from, to);
  }

  // Returns false if a selector is out of range: the function says so.
  bool FindNumbers(const RowNumber& number, std::vector<int64_t>* found) const {
    if (number.argument >= 0) {
      CopyIntegers(rows_[number.argument], found);
      return true;
    }
    const tf::Tensor& vector = *invariants_[number.vector];
    const int64_t size = vector.NumElements();
    for (const int64_t selector : numbers_[number.selector]) {
      if (selector < 0 || selector >= size) return false;
      found->push_back(vector.dtype() == tf::DT_INT32
                           ? vector.flat<int32_t>()(selector)
                           : vector.flat<int64_t>()(selector));
    }
    return true;
  }

  bool FindRows(const RowLookup& lookup, std::vector<T*>* found) {
    const tf::Tensor* table = invariants_[lookup.table];
    if (lookup.is_variable) {
      OpenTable& open = tables_.emplace_back();
      if (!tf::LookupResource(step_.root(),
                              table->flat<tf::ResourceHandle>()(0),
                              &open.variable)
               .ok()) {
        return false;
      }
      open.lock = std::make_unique<tf::tf_shared_lock>(*open.variable->mu());
      table = open.variable->tensor();
    }
    // A variable may have got another shape.
    const int64_t width =
        block_.graph[0].kind == NodeKind::kInput ? WidthOf(lookup) : 0;
    if (table->dtype() != block_.dtype || table->dims() == 0 ||
        table->dim_size(0) == 0 ||
        table->NumElements() / table->dim_size(0) != width) {
      return false;
    }
    T* const first = static_cast<T*>(table->data());
    const int64_t size = table->dim_size(0);
    for (const int64_t row : numbers_[lookup.number]) {
      if (row < 0 || row >= size) return false;
      found->push_back(first + row * width);
    }
    return true;
  }

  int64_t WidthOf(const RowLookup& lookup) const {
    const auto index =
        static_cast<int32_t>(rows_.size() + (&lookup - block_.lookups.data()));
    for (int32_t id = 0; id < block_.graph.size(); ++id) {
      const Node& node = block_.graph[id];
      if (node.kind == NodeKind::kInput && node.index == index) {
        return node.width;
      }
    }
    return 0;
  }

  void SetNumbers(const BlockOutput& output, tf::Tensor* tensor) const {
    const RowNumber& number = block_.numbers[output.index];
    *tensor = tf::Tensor(number.dtype, tf::TensorShape({num_rows_}));
    const std::vector<int64_t>& numbers = numbers_[output.index];
    for (int64_t i = 0; i < num_rows_; ++i) {
      if (number.dtype == tf::DT_INT32) {
        tensor->flat<int32_t>()(i) = static_cast<int32_t>(numbers[i]);
      } else {
        tensor->flat<int64_t>()(i) = numbers[i];
      }
    }
  }

  const BatchedStep& step_;
  const ReadBlock& block_;
  const BlockProgram& program_;
  const std::vector<tf::Tensor>& rows_;
  const std::vector<const tf::Tensor*>& invariants_;
  const int64_t num_rows_;
  const Kernels<T>& kernels_;
  std::vector<RowSet<T>> inputs_;
  std::vector<std::vector<int64_t>> numbers_;
  std::vector<std::vector<T*>> lookups_;
  std::vector<OpenTable> tables_;
};

// Packing a large matrix takes as long as a product of some rows with it.
bool IsWorthPacking(const BlockProgram& program, int64_t num_rows) {
  constexpr int64_t kManyNumbers = 256 * 1024;
  constexpr int64_t kManyRows = 32;
  return num_rows >= kManyRows ||
         std::all_of(program.matrices.begin(), program.matrices.end(),
                     [](const MatrixUse& use) {
                       return use.depth * use.num_segments * use.segment_width <
                              kManyNumbers;
                     });
}

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

template <typename T>
bool CompiledBlock::RunAs(const BatchedStep& step, const Compilation& found,
                          const std::vector<tf::Tensor>& rows,
                          const std::vector<const tf::Tensor*>& tensors,
                          Invariants* invariants,
                          std::vector<tf::Tensor>* outputs) const {
  Invariants::Pack& pack = invariants->PackOf(&found);
  if (pack.numbers == nullptr && !invariants->for_once()) {
    pack.numbers = FindKept(&found, tensors);
  }
  if (pack.numbers == nullptr && invariants->for_once()) {
    pack.num_rows += rows.front().dim_size(0);
    if (!IsWorthPacking(found.program, pack.num_rows)) return false;
  }
  ProgramRun<T> run(step, found.block, found.program, rows, tensors);
  if (!run.FindInputs()) return false;
  if (pack.numbers == nullptr) {
    pack.numbers = std::make_shared<const BlockInvariants<T>>(
        &found.program, &run.kernels(), run.Invariants(), &step.team());
    if (!invariants->for_once()) Keep(&found, tensors, pack.numbers);
  }
  run.Compute(*static_cast<const BlockInvariants<T>*>(pack.numbers.get()),
              outputs);
  return true;
}

absl::Status CompiledBlock::Run(const BatchedStep& step,
                                const std::vector<tf::Tensor>& rows,
                                Invariants* invariants, bool* has_run,
                                std::vector<tf::Tensor>* outputs) const {
  *has_run = false;
  if (rows.empty()) return absl::OkStatus();
  std::vector<BlockArgument> arguments;
  arguments.reserve(rows.size() + invariants_.size());
  for (const tf::Tensor& each : rows) {
    if (each.dims() == 0 || each.dim_size(0) == 0 ||
        each.dim_size(0) != rows.front().dim_size(0)) {
      return absl::OkStatus();
    }
    arguments.push_back({each.dtype(), ShapeOf(each, 1)});
  }
  std::vector<const tf::Tensor*> tensors;
  for (const int32_t index : invariants_) {
    const tf::Tensor& tensor = invariants->Get(index);
    tensors.push_back(&tensor);
    BlockArgument& argument = arguments.emplace_back();
    argument.dtype = tensor.dtype();
    argument.shape = ShapeOf(tensor, 0);
    if (tensor.dtype() == tf::DT_RESOURCE) {
      argument.shape = ShapeOfVariable(step, tensor);
    }
    // How much can be looked up is nothing to a program.
    if (argument.dtype != tf::DT_FLOAT && argument.dtype != tf::DT_DOUBLE &&
        !argument.shape.empty()) {
      argument.shape.front() = -1;
    }
  }
  const Compilation* found = Find(arguments);
  if (found == nullptr || !found->status.ok()) return absl::OkStatus();
  *has_run =
      found->block.dtype == tf::DT_FLOAT
          ? RunAs<float>(step, *found, rows, tensors, invariants, outputs)
          : RunAs<double>(step, *found, rows, tensors, invariants, outputs);
  return absl::OkStatus();
}

}  // namespace recursive_tf
