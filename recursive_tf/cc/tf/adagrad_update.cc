#include "recursive_tf/cc/tf/adagrad_update.h"

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
#include "recursive_tf/cc/tf/team_of.h"
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
constexpr int64_t kBlock = 1024;
// What a thread takes at a time, in numbers: some microseconds of work.
constexpr int64_t kPart = 16 * kBlock;

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
  T* variable = nullptr;
  T* sum = nullptr;
  const T* gradient = nullptr;
  int64_t size = 0;
  // The learning rate, kBlock times.
  const T* rates = nullptr;
};

// sum += gradient^2; variable -= gradient / sqrt(sum) * rate. Operands are the
// numbers of these sets.
constexpr int32_t kVariable = 0;
constexpr int32_t kSum = 1;
constexpr int32_t kGradient = 2;
constexpr int32_t kRate = 3;
constexpr int32_t kStep = 4;
constexpr Instruction kCode[] = {
    {.opcode = Opcode::kMulAdd,
     .out = kSum,
     .in = {kGradient, kGradient, kSum}},
    {.opcode = Opcode::kSqrt, .out = kStep, .in = {kSum}},
    {.opcode = Opcode::kDiv, .out = kStep, .in = {kGradient, kStep}},
    {.opcode = Opcode::kMulSubFrom,
     .out = kVariable,
     .in = {kStep, kRate, kVariable}},
};

template <typename T>
void Update(const Span<T>& span) {
  alignas(64) T steps[kBlock];
  for (int64_t begin = 0; begin < span.size; begin += kBlock) {
    const RowSet<T> sets[] = {{span.variable + begin},
                              {span.sum + begin},
                              // Nothing writes to these two.
                              {const_cast<T*>(span.gradient) + begin},
                              {const_cast<T*>(span.rates)},
                              {steps}};
    ChosenKernels<T>().tail({kCode, std::size(kCode), sets, 0, 1,
                             std::min(kBlock, span.size - begin)});
  }
}

template <typename T>
void Add(const T* numbers, int64_t size, T* total) {
  constexpr Instruction kAdd = {.opcode = Opcode::kAdd, .in = {0, 1}};
  // Nothing writes to the second one.
  const RowSet<T> sets[] = {{total}, {const_cast<T*>(numbers)}};
  ChosenKernels<T>().tail({&kAdd, 1, sets, 0, 1, size});
}

// One run of the op.
template <typename T>
class AdagradUpdate {
 public:
  AdagradUpdate(const AdagradSpec* spec, tf::OpKernelContext* ctx)
      : spec_(*spec), ctx_(*ctx), team_(TeamOfOneJob(ctx)) {}

  absl::Status Run() {
    TF_RETURN_IF_ERROR(AddVariables(0, 2 * spec_.num_variables));
    TF_RETURN_IF_ERROR(AddVariables(FirstTable(), 2 * spec_.num_tables));
    variables_.LockAll();
    std::vector<Span<T>> spans;
    for (int i = 0; i < spec_.num_variables; ++i) {
      TF_RETURN_IF_ERROR(AddSpans(i, &spans));
    }
    // Whatever is wrong is found before anything changes.
    for (int i = 0; i < spec_.num_tables; ++i) {
      TF_RETURN_IF_ERROR(CheckTable(i));
    }
    team_.Run(static_cast<int64_t>(spans.size()),
              [&](int64_t i) { Update(spans[i]); });
    for (int i = 0; i < spec_.num_tables; ++i) {
      TF_RETURN_IF_ERROR(UpdateRows(i));
    }
    return absl::OkStatus();
  }

 private:
  int FirstTable() const { return 4 * spec_.num_variables; }

  absl::Status AddVariables(int first_input, int count) {
    for (int i = first_input; i < first_input + count; ++i) {
      TF_RETURN_IF_ERROR(variables_.Add(&ctx_, tf::HandleFromInput(&ctx_, i)));
    }
    return absl::OkStatus();
  }

  // Checks a variable and its sums, and makes them ours.
  absl::Status Prepare(size_t variable, size_t sum) const {
    for (const size_t index : {variable, sum}) {
      tf::Var& each = variables_[index];
      if (!each.is_initialized ||
          each.tensor()->dtype() != tf::DataTypeToEnum<T>::value) {
        return absl::FailedPreconditionError(absl::StrCat(
            "Variable '", variables_.name(index), "' has no values of dtype ",
            tf::DataTypeString(tf::DataTypeToEnum<T>::value), "."));
      }
      TF_RETURN_IF_ERROR(Own(&ctx_, &each));
    }
    const tf::TensorShape& shape = variables_[variable].tensor()->shape();
    if (shape == variables_[sum].tensor()->shape()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("Variable '", variables_.name(variable),
                     "' and its sums do not have the same shape."));
  }

  // Adds a variable in parts.
  absl::Status AddSpans(int index, std::vector<Span<T>>* spans) {
    const auto variable = static_cast<size_t>(index);
    const size_t sum = variable + static_cast<size_t>(spec_.num_variables);
    TF_RETURN_IF_ERROR(Prepare(variable, sum));
    const tf::Tensor& numbers = *variables_[variable].tensor();
    const tf::Tensor& gradient = ctx_.input(2 * spec_.num_variables + index);
    if (gradient.shape() != numbers.shape()) {
      return Unlike(variable, gradient.shape());
    }
    Span<T> all;
    TF_RETURN_IF_ERROR(SetSpan(variable, sum, gradient,
                               ctx_.input(3 * spec_.num_variables + index),
                               &all));
    const int64_t size = numbers.NumElements();
    for (int64_t i = 0; i < size; i += kPart) {
      spans->push_back({all.variable + i, all.sum + i, all.gradient + i,
                        std::min(kPart, size - i), all.rates});
    }
    return absl::OkStatus();
  }

  // Sets where a variable, its sums and its gradient begin, and its rate.
  absl::Status SetSpan(size_t variable, size_t sum, const tf::Tensor& gradient,
                       const tf::Tensor& rate, Span<T>* span) {
    if (rate.NumElements() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("The learning rate of variable '",
                       variables_.name(variable), "' is not one number."));
    }
    span->variable = variables_[variable].tensor()->template flat<T>().data();
    span->sum = variables_[sum].tensor()->template flat<T>().data();
    span->gradient = gradient.flat<T>().data();
    span->rates = rates_.emplace_back(kBlock, rate.flat<T>()(0)).data();
    return absl::OkStatus();
  }

  absl::Status Unlike(size_t variable, const tf::TensorShape& gradient) const {
    return absl::InvalidArgumentError(
        absl::StrCat("The gradient of variable '", variables_.name(variable),
                     "', which has the shape ",
                     variables_[variable].tensor()->shape().DebugString(),
                     ", has the shape ", gradient.DebugString(), "."));
  }

  // Where a table stands among variables, and its sums.
  size_t TableAt(int index) const {
    return static_cast<size_t>(2) * spec_.num_variables + index;
  }
  size_t SumsAt(int index) const { return TableAt(index) + spec_.num_tables; }
  // The inputs with rows of a gradient; those with their numbers are as far
  // behind as there are tables.
  int RowsAt(int index) const {
    return FirstTable() + 2 * spec_.num_tables + index;
  }

  absl::Status CheckTable(int index) {
    TF_RETURN_IF_ERROR(Prepare(TableAt(index), SumsAt(index)));
    return CheckRows(TableAt(index), ctx_.input(RowsAt(index)),
                     ctx_.input(RowsAt(index) + spec_.num_tables));
  }

  absl::Status UpdateRows(int index) {
    const size_t table = TableAt(index);
    const size_t sum = SumsAt(index);
    const int first = RowsAt(index);
    const tf::Tensor& rows = ctx_.input(first);
    const tf::Tensor& indices = ctx_.input(first + spec_.num_tables);
    // Readers copy what they read, as for TensorFlow's own updates of rows.
    variables_[table].copy_on_read_mode.store(true);
    variables_[sum].copy_on_read_mode.store(true);
    const auto num_places = static_cast<int32_t>(indices.NumElements());
    if (num_places == 0) return absl::OkStatus();
    const int64_t* const numbers = indices.flat<int64_t>().data();
    const RowGroups groups(numbers, num_places);
    Span<T> all;
    TF_RETURN_IF_ERROR(SetSpan(table, sum, rows,
                               ctx_.input(first + 2 * spec_.num_tables), &all));
    all.size = rows.NumElements() / num_places;
    const auto num_heads = static_cast<int64_t>(groups.heads().size());
    const int64_t heads_each =
        std::max<int64_t>(1, kPart / std::max<int64_t>(1, all.size));
    team_.Run((num_heads + heads_each - 1) / heads_each, [&](int64_t part) {
      const int64_t begin = part * heads_each;
      for (int64_t i = begin; i < std::min(num_heads, begin + heads_each);
           ++i) {
        UpdateRow(groups, groups.heads()[i], numbers, all);
      }
    });
    return absl::OkStatus();
  }

  absl::Status CheckRows(size_t table, const tf::Tensor& rows,
                         const tf::Tensor& indices) const {
    tf::TensorShape wanted = variables_[table].tensor()->shape();
    if (wanted.dims() == 0 || indices.dims() != 1) {
      return Unlike(table, rows.shape());
    }
    const int64_t num_rows = wanted.dim_size(0);
    wanted.set_dim(0, indices.NumElements());
    if (rows.shape() != wanted ||
        indices.NumElements() > std::numeric_limits<int32_t>::max()) {
      return Unlike(table, rows.shape());
    }
    const auto numbers = indices.flat<int64_t>();
    for (int64_t i = 0; i < numbers.size(); ++i) {
      if (numbers(i) >= 0 && numbers(i) < num_rows) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "indices[", i, "] = ", numbers(i), " is not in [0, ", num_rows,
          "), the rows of variable '", variables_.name(table), "'."));
    }
    return absl::OkStatus();
  }

  static void UpdateRow(const RowGroups& groups, int32_t head,
                        const int64_t* indices, Span<T> span) {
    const int64_t size = span.size;
    const T* const rows = span.gradient;
    span.variable += indices[head] * size;
    span.sum += indices[head] * size;
    span.gradient = rows + head * size;
    int32_t place = groups.next(head);
    if (place < 0) return Update(span);
    std::vector<T> total(span.gradient, span.gradient + size);
    for (; place >= 0; place = groups.next(place)) {
      Add(rows + place * size, size, total.data());
    }
    span.gradient = total.data();
    Update(span);
  }

  const AdagradSpec& spec_;
  tf::OpKernelContext& ctx_;
  Team team_;
  // Those of `spec_` and their sums, then the tables and theirs.
  LockedVariables<tf::mutex_lock> variables_;
  // As often as threads take numbers.
  std::vector<std::vector<T>> rates_;
};

}  // namespace

template <typename T>
absl::Status UpdateByAdagrad(const AdagradSpec& spec,
                             tf::OpKernelContext* ctx) {
  return AdagradUpdate<T>(&spec, ctx).Run();
}

template absl::Status UpdateByAdagrad<float>(const AdagradSpec& spec,
                                             tf::OpKernelContext* ctx);
template absl::Status UpdateByAdagrad<double>(const AdagradSpec& spec,
                                              tf::OpKernelContext* ctx);

}  // namespace recursive_tf
