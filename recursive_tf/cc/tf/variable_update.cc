#include "recursive_tf/cc/tf/variable_update.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/row_groups.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/chosen_kernels.h"
#include "recursive_tf/cc/tf/locked_variables.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "recursive_tf/cc/tf/team_of.h"
#include "recursive_tf/cc/tf/update_rule.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// What is updated at a time, in numbers: all that one is computed with fits the
// first cache.
constexpr int64_t kBlock = 512;
// What a thread takes at a time, in numbers: some microseconds of work.
constexpr int64_t kPart = 32 * kBlock;
// Of a rule.
constexpr int kMostSlots = 2;
constexpr int kMostOperands = 9;

// Gives a variable memory that nobody else reads.
absl::Status Own(tf::OpKernelContext* ctx, tf::Var* variable) {
  tf::Tensor* const tensor = variable->tensor();
  if (tensor->RefCountIsOne()) return absl::OkStatus();
  tf::Tensor copy;
  tf::AllocatorAttributes attributes;
  attributes.set_nic_compatible(true);
  TF_RETURN_IF_ERROR(
      ctx->allocate_temp(tensor->dtype(), tensor->shape(), &copy, attributes));
  std::memcpy(copy.data(), tensor->data(), tensor->TotalBytes());
  *tensor = std::move(copy);
  return absl::OkStatus();
}

// The numbers of a variable, or of a row, and of its gradient.
template <typename T>
struct Span {
  // The same of another gradient, but for the first numbers of the variable.
  Span From(int64_t number, const T* its_gradient) const {
    Span rest = *this;
    rest.variable += number;
    rest.gradient = its_gradient;
    for (T*& slot : rest.slots) {
      if (slot != nullptr) slot += number;
    }
    return rest;
  }

  T* variable = nullptr;
  T* slots[kMostSlots] = {};
  const T* gradient = nullptr;
  int64_t size = 0;
  // The learning rate, kBlock times.
  const T* rates = nullptr;
};

template <typename T>
void Add(const T* numbers, int64_t size, T* total) {
  constexpr Instruction kAdd = {.opcode = Opcode::kAdd, .in = {0, 1}};
  // Nothing writes to the second one.
  const RowSet<T> sets[] = {{total}, {const_cast<T*>(numbers)}};
  ChosenKernels<T>().tail({&kAdd, 1, sets, 0, 1, size});
}

// One run of the op.
template <typename T>
class VariableUpdate {
 public:
  VariableUpdate(const UpdateCounts* counts, const UpdateRule<T>* rule,
                 tf::OpKernelContext* ctx)
      : counts_(*counts), rule_(*rule), ctx_(*ctx), team_(ctx) {
    for (const T number : rule->numbers) numbers_.emplace_back(kBlock, number);
  }

  absl::Status Run() {
    const int num_each = 1 + rule_.num_slots;
    TF_RETURN_IF_ERROR(AddVariables(0, num_each * counts_.num_variables));
    TF_RETURN_IF_ERROR(
        AddVariables(FirstTable(), num_each * counts_.num_tables));
    variables_.LockAll();
    std::vector<Span<T>> spans;
    for (int i = 0; i < counts_.num_variables; ++i) {
      TF_RETURN_IF_ERROR(AddSpans(i, &spans));
    }
    // Whatever is wrong is found before anything changes.
    for (int i = 0; i < counts_.num_tables; ++i) {
      TF_RETURN_IF_ERROR(CheckTable(i));
    }
    team_.team().Run(static_cast<int64_t>(spans.size()),
                     [&](int64_t i) { Update(spans[i]); });
    for (int i = 0; i < counts_.num_tables; ++i) {
      TF_RETURN_IF_ERROR(UpdateRows(i));
    }
    return absl::OkStatus();
  }

 private:
  // A variable or table among those that are locked, and how far behind each
  // other its slots are.
  struct Place {
    size_t SlotAt(int slot) const {
      return index + static_cast<size_t>(1 + slot) * distance;
    }

    size_t index;
    size_t distance;
  };

  Place VariableAt(int index) const {
    return {static_cast<size_t>(index),
            static_cast<size_t>(counts_.num_variables)};
  }
  Place TableAt(int index) const {
    const int num_before = (1 + rule_.num_slots) * counts_.num_variables;
    return {static_cast<size_t>(num_before + index),
            static_cast<size_t>(counts_.num_tables)};
  }

  // The inputs with gradients; those with their rates are as far behind as
  // there are variables.
  int GradientAt(int index) const {
    return (1 + rule_.num_slots) * counts_.num_variables + index;
  }
  int FirstTable() const { return GradientAt(2 * counts_.num_variables); }
  // The inputs with rows of a gradient; those with their numbers, and with
  // rates, are as far behind as there are tables.
  int RowsAt(int index) const {
    return FirstTable() + (1 + rule_.num_slots) * counts_.num_tables + index;
  }

  absl::Status AddVariables(int first_input, int count) {
    for (int i = first_input; i < first_input + count; ++i) {
      TF_RETURN_IF_ERROR(variables_.Add(&ctx_, tf::HandleFromInput(&ctx_, i)));
    }
    return absl::OkStatus();
  }

  // Checks a variable and its slots, and makes them ours.
  absl::Status Prepare(const Place& place) const {
    TF_RETURN_IF_ERROR(PrepareOne(place.index));
    const tf::TensorShape& shape = variables_[place.index].tensor()->shape();
    for (int slot = 0; slot < rule_.num_slots; ++slot) {
      const size_t index = place.SlotAt(slot);
      TF_RETURN_IF_ERROR(PrepareOne(index));
      if (shape == variables_[index].tensor()->shape()) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "Variable '", variables_.name(place.index), "' and '",
          variables_.name(index), "', which an optimizer keeps of it, do not ",
          "have the same shape."));
    }
    return absl::OkStatus();
  }

  absl::Status PrepareOne(size_t index) const {
    tf::Var& variable = variables_[index];
    if (!variable.is_initialized ||
        variable.tensor()->dtype() != tf::DataTypeToEnum<T>::value) {
      return absl::FailedPreconditionError(absl::StrCat(
          "Variable '", variables_.name(index), "' has no values of dtype ",
          tf::DataTypeString(tf::DataTypeToEnum<T>::value), "."));
    }
    return Own(&ctx_, &variable);
  }

  // Adds a variable in parts.
  absl::Status AddSpans(int index, std::vector<Span<T>>* spans) {
    const Place place = VariableAt(index);
    TF_RETURN_IF_ERROR(Prepare(place));
    const tf::Tensor& numbers = *variables_[place.index].tensor();
    const tf::Tensor& gradient = ctx_.input(GradientAt(index));
    if (gradient.shape() != numbers.shape()) {
      return Unlike(place.index, gradient.shape());
    }
    Span<T> all;
    const tf::Tensor& rate =
        ctx_.input(GradientAt(counts_.num_variables + index));
    TF_RETURN_IF_ERROR(CheckRate(place, rate));
    SetSpan(place, gradient, rate, &all);
    const int64_t size = numbers.NumElements();
    for (int64_t i = 0; i < size; i += kPart) {
      spans->push_back(all.From(i, all.gradient + i));
      spans->back().size = std::min(kPart, size - i);
    }
    return absl::OkStatus();
  }

  absl::Status CheckRate(const Place& place, const tf::Tensor& rate) const {
    if (rate.NumElements() == 1) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("The learning rate of variable '",
                     variables_.name(place.index), "' is not one number."));
  }

  // Sets where a variable, its slots and its gradient begin, and its rate.
  void SetSpan(const Place& place, const tf::Tensor& gradient,
               const tf::Tensor& rate, Span<T>* span) {
    span->variable = NumbersOf(place.index);
    for (int slot = 0; slot < rule_.num_slots; ++slot) {
      span->slots[slot] = NumbersOf(place.SlotAt(slot));
    }
    span->gradient = gradient.flat<T>().data();
    const T factor = rate.flat<T>()(0) * rule_.rate_factor;
    span->rates = rates_.emplace_back(kBlock, factor).data();
  }

  T* NumbersOf(size_t index) const {
    return variables_[index].tensor()->template flat<T>().data();
  }

  absl::Status Unlike(size_t variable, const tf::TensorShape& gradient) const {
    return absl::InvalidArgumentError(
        absl::StrCat("The gradient of variable '", variables_.name(variable),
                     "', which has the shape ",
                     variables_[variable].tensor()->shape().DebugString(),
                     ", has the shape ", gradient.DebugString(), "."));
  }

  absl::Status CheckTable(int index) {
    const Place place = TableAt(index);
    TF_RETURN_IF_ERROR(Prepare(place));
    const tf::Tensor& numbers = ctx_.input(RowsAt(index) + counts_.num_tables);
    ReadNumbers(numbers, numbers.NumElements(), &indices_.emplace_back());
    TF_RETURN_IF_ERROR(CheckRows(place.index, ctx_.input(RowsAt(index)),
                                 numbers.shape(), indices_.back()));
    return CheckRate(place, RateOfTable(index));
  }

  const tf::Tensor& RateOfTable(int index) const {
    return ctx_.input(RowsAt(index) + 2 * counts_.num_tables);
  }

  absl::Status UpdateRows(int index) {
    const Place place = TableAt(index);
    const int first = RowsAt(index);
    const tf::Tensor& rows = ctx_.input(first);
    const std::vector<int64_t>& indices = indices_[index];
    // Readers copy what they read, as for TensorFlow's own updates of rows.
    variables_[place.index].copy_on_read_mode.store(true);
    for (int slot = 0; slot < rule_.num_slots; ++slot) {
      variables_[place.SlotAt(slot)].copy_on_read_mode.store(true);
    }
    const auto num_places = static_cast<int32_t>(indices.size());
    if (num_places == 0) return absl::OkStatus();
    const RowGroups groups(indices.data(), num_places);
    Span<T> all;
    SetSpan(place, rows, RateOfTable(index), &all);
    all.size = rows.NumElements() / num_places;
    const auto num_heads = static_cast<int64_t>(groups.heads().size());
    const int64_t heads_each =
        std::max<int64_t>(1, kPart / std::max<int64_t>(1, all.size));
    team_.team().Run((num_heads + heads_each - 1) / heads_each,
                     [&](int64_t part) {
                       const int64_t begin = part * heads_each;
                       for (int64_t i = begin;
                            i < std::min(num_heads, begin + heads_each); ++i) {
                         UpdateRow(groups, groups.heads()[i], indices, all);
                       }
                     });
    return absl::OkStatus();
  }

  absl::Status CheckRows(size_t table, const tf::Tensor& rows,
                         const tf::TensorShape& shape_of_indices,
                         const std::vector<int64_t>& indices) const {
    tf::TensorShape wanted = variables_[table].tensor()->shape();
    if (wanted.dims() == 0 || shape_of_indices.dims() != 1) {
      return Unlike(table, rows.shape());
    }
    const int64_t num_rows = wanted.dim_size(0);
    const auto num_indices = static_cast<int64_t>(indices.size());
    wanted.set_dim(0, num_indices);
    if (rows.shape() != wanted ||
        num_indices > std::numeric_limits<int32_t>::max()) {
      return Unlike(table, rows.shape());
    }
    for (int64_t i = 0; i < num_indices; ++i) {
      if (indices[i] >= 0 && indices[i] < num_rows) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "indices[", i, "] = ", indices[i], " is not in [0, ", num_rows,
          "), the rows of variable '", variables_.name(table), "'."));
    }
    return absl::OkStatus();
  }

  void UpdateRow(const RowGroups& groups, int32_t head,
                 const std::vector<int64_t>& indices,
                 const Span<T>& table) const {
    const int64_t size = table.size;
    const T* const rows = table.gradient;
    Span<T> row = table.From(indices[head] * size, rows + head * size);
    int32_t place = groups.next(head);
    if (place < 0) return Update(row);
    std::vector<T> total(row.gradient, row.gradient + size);
    for (; place >= 0; place = groups.next(place)) {
      Add(rows + place * size, size, total.data());
    }
    row.gradient = total.data();
    Update(row);
  }

  // Runs the rule's code.
  void Update(const Span<T>& span) const {
    alignas(64) T between[kBlock];
    RowSet<T> sets[kMostOperands];
    for (int64_t begin = 0; begin < span.size; begin += kBlock) {
      RowSet<T>* next = sets;
      *next++ = {span.variable + begin};
      for (int slot = 0; slot < rule_.num_slots; ++slot) {
        *next++ = {span.slots[slot] + begin};
      }
      // Nothing writes to the gradient, to rates and to the rule's numbers.
      *next++ = {const_cast<T*>(span.gradient) + begin};
      *next++ = {const_cast<T*>(span.rates)};
      for (const std::vector<T>& number : numbers_) {
        *next++ = {const_cast<T*>(number.data())};
      }
      *next = {between};
      ChosenKernels<T>().tail({rule_.code.data(),
                               static_cast<int64_t>(rule_.code.size()), sets, 0,
                               1, std::min(kBlock, span.size - begin)});
    }
  }

  const UpdateCounts& counts_;
  const UpdateRule<T>& rule_;
  tf::OpKernelContext& ctx_;
  const TeamOf team_;
  // Variables and their slots, then tables and theirs.
  LockedVariables<tf::mutex_lock> variables_;
  // By table: the rows that have gradients.
  std::vector<std::vector<int64_t>> indices_;
  // As often as threads take numbers.
  std::vector<std::vector<T>> rates_;
  std::vector<std::vector<T>> numbers_;
};

}  // namespace

template <typename T>
absl::Status UpdateVariables(const UpdateCounts& counts,
                             const UpdateRule<T>& rule,
                             tf::OpKernelContext* ctx) {
  return VariableUpdate<T>(&counts, &rule, ctx).Run();
}

template absl::Status UpdateVariables<float>(const UpdateCounts& counts,
                                             const UpdateRule<float>& rule,
                                             tf::OpKernelContext* ctx);
template absl::Status UpdateVariables<double>(const UpdateCounts& counts,
                                              const UpdateRule<double>& rule,
                                              tf::OpKernelContext* ctx);

}  // namespace recursive_tf
