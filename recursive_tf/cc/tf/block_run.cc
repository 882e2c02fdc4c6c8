#include "recursive_tf/cc/tf/block_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/block_runner.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/chosen_kernels.h"
#include "recursive_tf/cc/tf/draw_rows.h"
#include "recursive_tf/cc/tf/new_tensor.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

template <typename T>
BlockRun<T>::BlockRun(const BatchedStep* step, const ReadBlock* block,
                      const BlockProgram* program,
                      const std::vector<RowBatch>* rows,
                      const std::vector<const tf::Tensor*>* invariants,
                      BlockMemory<T>* memory)
    : step_(*step),
      block_(*block),
      program_(*program),
      rows_(*rows),
      invariants_(*invariants),
      kernels_(ChosenKernels<T>()),
      memory_(*memory) {}

template <typename T>
bool BlockRun<T>::CountRows() {
  memory_.placed.num_rows.assign(block_.graph.num_axes(), -1);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const int32_t axis = block_.argument_axes[i];
    if (axis < 0) continue;
    const int64_t found = rows_[i].shape().dim_size(0);
    int64_t& num_rows = memory_.placed.num_rows[axis];
    if (num_rows >= 0 && num_rows != found) return false;
    num_rows = found;
  }
  return true;
}

template <typename T>
bool BlockRun<T>::FindInputs() {
  memory_.placed.owners.clear();
  memory_.placed.inputs.clear();
  memory_.placed.num_shared.clear();
  memory_.cast.clear();
  if (!CountRows() ||
      !FindNumbers(block_.numbers, rows_, invariants_, &memory_.placed.num_rows,
                   &memory_.numbers)) {
    return false;
  }
  for (const int32_t number : block_.owners) {
    memory_.placed.owners.push_back(memory_.numbers[number].data());
  }
  if (!OpenVariables()) return false;
  memory_.lookups.resize(block_.lookups.size());
  memory_.placed.tables.resize(block_.lookups.size());
  size_t variable = 0;
  for (size_t i = 0; i < memory_.lookups.size(); ++i) {
    const RowLookup& lookup = block_.lookups[i];
    const tf::Tensor& table = lookup.is_variable
                                  ? *variables_[variable++].tensor()
                                  : *invariants_[lookup.table];
    if (!IsTableOf(lookup, table)) return false;
    memory_.placed.tables[i] = {static_cast<const T*>(table.data()),
                                table.dim_size(0)};
    if (!lookup.is_computed() &&
        !FindRows(lookup, table, &memory_.lookups[i])) {
      return false;
    }
  }
  memory_.draws.resize(block_.draws.size());
  for (size_t i = 0; i < memory_.draws.size(); ++i) {
    DrawRows(block_.draws[i], memory_.numbers, &step_.team(),
             &memory_.draws[i]);
  }
  memory_.placed.inputs.reserve(block_.inputs.size());
  for (const BlockInput& input : block_.inputs) {
    memory_.placed.inputs.push_back(FindInput(input));
    memory_.placed.num_shared.push_back(NumShared(input));
  }
  return true;
}

template <typename T>
RowSet<T> BlockRun<T>::FindInput(const BlockInput& input) {
  if (input.lookup >= 0) {
    return {nullptr, 0, memory_.lookups[input.lookup].data()};
  }
  if (input.draw >= 0) {
    return {memory_.draws[input.draw].data(), block_.draws[input.draw].width};
  }
  if (input.number >= 0) {
    const std::vector<int64_t>& numbers = memory_.numbers[input.number];
    memory_.cast.emplace_back(numbers.begin(), numbers.end());
    return {memory_.cast.back().data(), 1};
  }
  const RowBatch& rows = rows_[input.argument];
  return rows.dtype() == tf::DT_BOOL ? RowsOfBools(rows.AsTensor())
                                     : RowsOf(rows, input.part);
}

template <typename T>
int64_t BlockRun<T>::NumShared(const BlockInput& input) const {
  if (input.argument < 0) return 0;
  const ScatteredRows* const scattered = rows_[input.argument].scattered();
  return scattered == nullptr ? 0 : scattered->parts[input.part].num_shared;
}

template <typename T>
RowSet<T> BlockRun<T>::RowsOfBools(const tf::Tensor& tensor) {
  const auto* const first = static_cast<const bool*>(tensor.data());
  const int64_t size = tensor.NumElements();
  memory_.cast.emplace_back(first, first + size);
  return {memory_.cast.back().data(),
          size / std::max<int64_t>(tensor.dim_size(0), 1)};
}

template <typename T>
RowSet<T> BlockRun<T>::RowsOf(const RowBatch& rows, size_t part) const {
  const ScatteredRows* const scattered = rows.scattered();
  if (scattered != nullptr) {
    return {nullptr, 0,
            reinterpret_cast<T* const*>(scattered->parts[part].rows.data())};
  }
  const tf::Tensor tensor = rows.AsTensor();
  const int64_t num_rows = std::max<int64_t>(tensor.dim_size(0), 1);
  return {static_cast<T*>(tensor.data()), tensor.NumElements() / num_rows};
}

template <typename T>
bool BlockRun<T>::OpenVariables() {
  for (const RowLookup& lookup : block_.lookups) {
    if (!lookup.is_variable) continue;
    const tf::Tensor& handle = *invariants_[lookup.table];
    if (!variables_.Add(step_.root(), handle.flat<tf::ResourceHandle>()(0))
             .ok()) {
      return false;
    }
  }
  variables_.LockAll();
  return true;
}

template <typename T>
bool BlockRun<T>::IsTableOf(const RowLookup& lookup,
                            const tf::Tensor& table) const {
  if (table.dtype() != block_.dtype || table.dims() == 0) return false;
  const int64_t size = table.dim_size(0);
  return size > 0 && table.NumElements() / size == lookup.width;
}

template <typename T>
bool BlockRun<T>::FindRows(const RowLookup& lookup, const tf::Tensor& table,
                           std::vector<T*>* found) const {
  const int64_t size = table.dim_size(0);
  T* const first = static_cast<T*>(table.data());
  found->clear();
  for (const int64_t row : memory_.numbers[lookup.number]) {
    if (row < 0 || row >= size) return false;
    found->push_back(first + row * lookup.width);
  }
  return true;
}

template <typename T>
std::shared_ptr<const BlockInvariants<T>> BlockRun<T>::Place(
    Matrices matrices) const {
  std::vector<typename BlockInvariants<T>::Numbers> numbers;
  for (const tf::Tensor* tensor : invariants_) {
    const bool has_numbers = tensor->dtype() == block_.dtype;
    numbers.push_back(
        {has_numbers ? static_cast<const T*>(tensor->data()) : nullptr,
         tensor->NumElements()});
  }
  return std::make_shared<const BlockInvariants<T>>(
      &program_, &kernels_, numbers, matrices, &step_.team());
}

// A gradient of another shape is refused when it is there.
template <typename T>
bool BlockRun<T>::Fits(const AddedOutput& added,
                       const BlockOutput& output) const {
  if (added.empty() || output.axis < 0) return false;
  const std::optional<int32_t> buffer = program_.output_buffers[output.index];
  if (!buffer.has_value() ||
      WidthOf(added) != program_.buffers[*buffer].width) {
    return false;
  }
  const auto num_rows =
      static_cast<size_t>(memory_.placed.num_rows[output.axis]);
  return std::all_of(added.begin(), added.end(),
                     [&](const AddedColumns& columns) {
                       return columns.groups.num_groups() == 0 ||
                              columns.groups.group_of().size() == num_rows;
                     });
}

template <typename T>
void BlockRun<T>::PlaceAdded(const std::vector<AddedOutput>& added) {
  std::vector<const AddedOutput*>& places = memory_.placed.added;
  places.assign(block_.graph.outputs.size(), nullptr);
  std::vector<int32_t> num_uses(places.size(), 0);
  for (size_t i = 0; i < block_.outputs.size(); ++i) {
    const BlockOutput& output = block_.outputs[i];
    if (output.kind != BlockOutput::Kind::kGraph) continue;
    const bool is_alone = ++num_uses[output.index] == 1;
    const bool is_added =
        is_alone && i < added.size() && Fits(added[i], output);
    places[output.index] = is_added ? &added[i] : nullptr;
  }
}

template <typename T>
absl::Status BlockRun<T>::Compute(const BlockInvariants<T>& placed,
                                  const std::vector<AddedOutput>& added,
                                  const std::function<void()>& meanwhile,
                                  std::vector<tf::Tensor>* outputs) {
  memory_.placed.buffers.clear();
  for (const BufferUse& use : program_.buffers) {
    tf::Tensor& buffer = memory_.buffers.emplace_back();
    TF_RETURN_IF_ERROR(NewTensor(
        block_.dtype, {memory_.placed.num_rows[use.axis], use.width}, &buffer));
    memory_.placed.buffers.push_back(static_cast<T*>(buffer.data()));
  }
  memory_.placed.sums.assign(block_.graph.outputs.size(), nullptr);
  outputs->resize(block_.outputs.size());
  for (size_t i = 0; i < block_.outputs.size(); ++i) {
    const BlockOutput& output = block_.outputs[i];
    tf::Tensor& tensor = (*outputs)[i];
    TF_RETURN_IF_ERROR(SetOutput(output, &tensor));
    if (output.kind == BlockOutput::Kind::kGraph && output.axis < 0) {
      memory_.placed.sums[output.index] = static_cast<T*>(tensor.data());
    }
  }
  PlaceAdded(added);
  // Whole numbers are there already.
  if (!program_.phases.empty() || !program_.sums.empty()) {
    BlockRunner<T> runner(&program_, &kernels_, &placed, &step_.team());
    const bool can_fail =
        std::any_of(block_.lookups.begin(), block_.lookups.end(),
                    [](const RowLookup& each) { return each.is_computed(); });
    // After all that takes much memory: until then a failure has a path.
    const Team::Meanwhile scope(&step_.team(),
                                can_fail ? std::function<void()>() : meanwhile);
    has_run_ = runner.Run(memory_.placed);
    num_flops_spared_ = runner.num_flops_spared();
  }
  for (size_t i = 0; has_run_ && i < block_.outputs.size(); ++i) {
    const BlockOutput& output = block_.outputs[i];
    if (IsCast(output)) SetCast(output, &(*outputs)[i]);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status BlockRun<T>::SetOutput(const BlockOutput& output,
                                    tf::Tensor* tensor) const {
  // A row may have got another shape than it had.
  absl::InlinedVector<int64_t, 4> sizes;
  if (output.axis >= 0) sizes.push_back(memory_.placed.num_rows[output.axis]);
  sizes.insert(sizes.end(), output.shape.begin(), output.shape.end());
  switch (output.kind) {
    case BlockOutput::Kind::kArgument:
      return WithSizes(rows_[output.index].AsTensor(&step_.team()), sizes,
                       tensor);
    case BlockOutput::Kind::kNumber:
      return WithSizes(AsTensor(memory_.numbers, output.numbers, output.dtype),
                       sizes, tensor);
    case BlockOutput::Kind::kGraph:
      break;
  }
  if (IsCast(output)) return NewTensor(output.dtype, sizes, tensor);
  if (output.axis >= 0) {
    const int32_t buffer = program_.output_buffers[output.index].value_or(0);
    return WithSizes(memory_.buffers[buffer], sizes, tensor);
  }
  return NewTensor(block_.dtype, sizes, tensor);
}

template <typename T>
void BlockRun<T>::SetCast(const BlockOutput& output, tf::Tensor* tensor) const {
  const int32_t buffer = program_.output_buffers[output.index].value_or(0);
  const T* const begin = memory_.placed.buffers[buffer];
  const T* const end = begin + tensor->NumElements();
  switch (output.dtype) {
    case tf::DT_BOOL:
      std::transform(begin, end, static_cast<bool*>(tensor->data()),
                     [](T number) { return number != 0; });
      break;
    case tf::DT_INT32:
      std::copy(begin, end, static_cast<int32_t*>(tensor->data()));
      break;
    default:
      std::copy(begin, end, static_cast<int64_t*>(tensor->data()));
  }
}

template class BlockRun<float>;
template class BlockRun<double>;

}  // namespace recursive_tf
