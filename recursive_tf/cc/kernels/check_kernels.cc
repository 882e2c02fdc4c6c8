// Checks of many activations at once, and texts of them.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "recursive_tf/cc/tf/failed_row.h"
#include "tensorflow/core/framework/bfloat16.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// How many elements a row has. A scalar is a row.
int64_t RowSize(const tf::Tensor& rows) {
  if (rows.dims() == 0) return 1;
  return rows.NumElements() / std::max<int64_t>(rows.dim_size(0), 1);
}

// A tensor that says something of each row.
class Part {
 public:
  Part(tf::Tensor tensor, bool has_rows)
      : tensor_(std::move(tensor)), has_rows_(has_rows) {}

  // Makes it the items of lists, of these lengths.
  absl::Status SetLengths(const tf::Tensor& lengths) {
    if (lengths.dims() != 1 || lengths.dtype() != tf::DT_INT32) {
      return absl::InvalidArgumentError("lengths must be vectors of int32");
    }
    ends_.emplace();
    int64_t end = 0;
    for (int64_t row = 0; row < lengths.dim_size(0); ++row) {
      const int32_t length = lengths.vec<int32_t>()(row);
      if (length < 0) return absl::InvalidArgumentError("a length is negative");
      ends_->push_back(end += length);
    }
    if (tensor_.dims() == 0 || tensor_.dim_size(0) != end) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Lists of ", end, " items are to be in a tensor of shape ",
          tensor_.shape().DebugString()));
    }
    return absl::OkStatus();
  }

  // Sets how many rows it has, or checks it if that is not negative.
  absl::Status CountRows(int64_t* num_rows) const {
    if (!has_rows_) return absl::OkStatus();
    if (tensor_.dims() == 0) {
      return absl::InvalidArgumentError("A scalar has no rows.");
    }
    const int64_t own = ends_.has_value() ? static_cast<int64_t>(ends_->size())
                                          : tensor_.dim_size(0);
    if (*num_rows < 0) *num_rows = own;
    if (own == *num_rows) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("There are ", *num_rows, " rows, but an input has ", own));
  }

  // Returns what a row sees of it, which need not be aligned.
  tf::Tensor Row(int64_t row) const {
    if (!has_rows_) return tensor_;
    if (!ends_.has_value()) return tensor_.SubSlice(row);
    return tensor_.Slice(row > 0 ? (*ends_)[row - 1] : 0, (*ends_)[row]);
  }

 private:
  tf::Tensor tensor_;
  bool has_rows_;
  // Behind the items of each row, if it is of lists.
  std::optional<std::vector<int64_t>> ends_;
};

template <typename T>
class CheckedIdsOp : public tf::OpKernel {
 public:
  explicit CheckedIdsOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("size", &size_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("drops_negative", &drops_negative_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("what", &what_));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    const tf::Tensor& ids = ctx->input(0);
    tf::Tensor* checked = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, ids.shape(), &checked));
    const T* id = ids.flat<T>().data();
    int64_t* out = checked->flat<int64_t>().data();
    for (int64_t i = 0; i < ids.NumElements(); ++i) {
      const int64_t number = id[i];
      const bool is_dropped = number < 0 && drops_negative_;
      OP_REQUIRES(ctx, is_dropped || (number >= 0 && number < size_),
                  OutOfRange(number, i, RowSize(ids)));
      out[i] = is_dropped ? -1 : number;
    }
  }

  bool IsExpensive() override { return false; }

 private:
  absl::Status OutOfRange(int64_t id, int64_t index, int64_t row_size) const {
    return WithFailedRow(absl::InvalidArgumentError(absl::StrCat(
                             what_, "[", index % row_size, "] = ", id,
                             " is out of range [0, ", size_, ")")),
                         index / row_size);
  }

  int64_t size_ = 0;
  bool drops_negative_ = false;
  std::string what_;
};

// What is said of each row: parts of its own, lists, or what all rows share.
class OfRowsOp : public tf::OpKernel {
 public:
  explicit OfRowsOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("has_rows", &has_rows_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("lists", &lists_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("summarize", &summarize_));
    for (const int32_t list : lists_) {
      OP_REQUIRES(ctx,
                  list >= 0 && list < static_cast<int64_t>(num_parts()) &&
                      has_rows_[list],
                  absl::InvalidArgumentError(absl::StrCat(
                      "Part ", list, " is to be a list, but has no rows.")));
    }
  }

 protected:
  size_t num_parts() const { return has_rows_.size(); }

  // Sets the parts of `num_rows` rows, or of as many as there are if that is
  // negative.
  absl::Status ReadParts(tf::OpKernelContext* ctx, int first, int64_t* num_rows,
                         std::vector<Part>* parts) const {
    const size_t num_inputs = num_parts() + lists_.size();
    if (static_cast<int>(num_inputs) != ctx->num_inputs() - first) {
      return absl::InvalidArgumentError(
          absl::StrCat("has_rows and lists say something of ", num_inputs,
                       " inputs, but there are ", ctx->num_inputs() - first));
    }
    for (size_t i = 0; i < num_parts(); ++i) {
      parts->push_back({ctx->input(first + static_cast<int>(i)), has_rows_[i]});
    }
    for (size_t k = 0; k < lists_.size(); ++k) {
      const int input = first + static_cast<int>(num_parts() + k);
      TF_RETURN_IF_ERROR((*parts)[lists_[k]].SetLengths(ctx->input(input)));
    }
    for (const Part& part : *parts) {
      TF_RETURN_IF_ERROR(part.CountRows(num_rows));
    }
    return absl::OkStatus();
  }

  std::string Summary(const Part& part, int64_t row, bool is_print) const {
    return part.Row(row).SummarizeValue(summarize_, is_print);
  }

 private:
  std::vector<bool> has_rows_;
  std::vector<int32_t> lists_;
  int32_t summarize_ = 0;
};

class AssertRowsOp : public OfRowsOp {
 public:
  using OfRowsOp::OfRowsOp;

  void Compute(tf::OpKernelContext* ctx) override {
    const tf::Tensor& conditions = ctx->input(0);
    OP_REQUIRES(ctx, conditions.dims() == 1,
                absl::InvalidArgumentError("conditions must be a vector"));
    const bool* holds = conditions.flat<bool>().data();
    const bool* end = holds + conditions.NumElements();
    const bool* failed = std::find(holds, end, false);
    if (failed == end) return;
    const int64_t row = failed - holds;
    int64_t num_rows = conditions.NumElements();
    std::vector<Part> parts;
    OP_REQUIRES_OK(ctx, ReadParts(ctx, 1, &num_rows, &parts));
    std::vector<std::string> texts;
    texts.reserve(parts.size());
    for (const Part& part : parts) {
      texts.push_back(
          absl::StrCat("[", Summary(part, row, /*is_print=*/false), "]"));
    }
    ctx->CtxFailure(
        WithFailedRow(absl::InvalidArgumentError(absl::StrCat(
                          "assertion failed: ", absl::StrJoin(texts, " "))),
                      row));
  }

  bool IsExpensive() override { return false; }
};

class FormatRowsOp : public OfRowsOp {
 public:
  explicit FormatRowsOp(tf::OpKernelConstruction* ctx) : OfRowsOp(ctx) {
    std::string text;
    std::string placeholder;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("template", &text));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("placeholder", &placeholder));
    pieces_ = absl::StrSplit(text, placeholder);
    OP_REQUIRES(ctx, pieces_.size() == num_parts() + 1,
                absl::InvalidArgumentError(absl::StrCat(
                    "The template has ", pieces_.size() - 1,
                    " placeholders for ", num_parts(), " inputs.")));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    int64_t num_rows = -1;
    std::vector<Part> parts;
    OP_REQUIRES_OK(ctx, ReadParts(ctx, 0, &num_rows, &parts));
    OP_REQUIRES(ctx, num_rows >= 0,
                absl::InvalidArgumentError("No input has rows."));
    tf::Tensor* texts = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {num_rows}, &texts));
    for (int64_t row = 0; row < num_rows; ++row) {
      std::string text = pieces_.front();
      for (size_t i = 0; i < num_parts(); ++i) {
        absl::StrAppend(&text, Summary(parts[i], row, /*is_print=*/true),
                        pieces_[i + 1]);
      }
      texts->flat<tf::tstring>()(row) = text;
    }
  }

 private:
  std::vector<std::string> pieces_;
};

// What a row has that is no number.
struct Anomalies {
  bool minus_infinity = false;
  bool plus_infinity = false;
  bool nan = false;

  void Add(double value) {
    nan = nan || std::isnan(value);
    minus_infinity = minus_infinity || (std::isinf(value) && value < 0);
    plus_infinity = plus_infinity || (std::isinf(value) && value > 0);
  }

  // As TensorFlow's CheckNumerics and CheckNumericsV2 say it.
  std::string InWords(bool tells_sign) const {
    std::vector<std::string> found;
    if (!tells_sign && (minus_infinity || plus_infinity)) {
      found.emplace_back("Inf");
    }
    if (tells_sign && minus_infinity) found.emplace_back("-Inf");
    if (tells_sign && plus_infinity) found.emplace_back("+Inf");
    if (nan) found.emplace_back("NaN");
    if (found.size() < 3) return absl::StrJoin(found, " and ");
    return absl::StrCat(found[0], ", ", found[1], ", and ", found[2]);
  }
};

template <typename T>
class CheckNumericsRowsOp : public tf::OpKernel {
 public:
  explicit CheckNumericsRowsOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("message", &message_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("tells_sign", &tells_sign_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("has_rows", &has_rows_));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    const tf::Tensor& rows = ctx->input(0);
    const T* values = rows.flat<T>().data();
    const T* end = values + rows.NumElements();
    const T* failed = std::find_if(values, end, [](T value) {
      return !std::isfinite(static_cast<double>(value));
    });
    if (failed != end) {
      const int64_t row_size = RowSize(rows);
      const int64_t row = (failed - values) / row_size;
      Anomalies found;
      for (int64_t i = row * row_size; i < (row + 1) * row_size; ++i) {
        found.Add(static_cast<double>(values[i]));
      }
      const absl::Status status = absl::InvalidArgumentError(absl::StrCat(
          message_, " : Tensor had ", found.InWords(tells_sign_), " values"));
      OP_REQUIRES_OK(ctx, has_rows_ ? WithFailedRow(status, row) : status);
    }
    ctx->set_output(0, rows);
  }

  bool IsExpensive() override { return false; }

 private:
  std::string message_;
  bool tells_sign_ = false;
  bool has_rows_ = false;
};

#define REGISTER_IDS(T)                                \
  REGISTER_KERNEL_BUILDER(Name("RecursiveCheckedIds")  \
                              .Device(tf::DEVICE_CPU)  \
                              .TypeConstraint<T>("T"), \
                          CheckedIdsOp<T>)

REGISTER_IDS(int32_t);
REGISTER_IDS(int64_t);

#undef REGISTER_IDS

#define REGISTER_NUMERICS(T)                                 \
  REGISTER_KERNEL_BUILDER(Name("RecursiveCheckNumericsRows") \
                              .Device(tf::DEVICE_CPU)        \
                              .TypeConstraint<T>("T"),       \
                          CheckNumericsRowsOp<T>)

REGISTER_NUMERICS(tf::bfloat16);
REGISTER_NUMERICS(Eigen::half);
REGISTER_NUMERICS(float);
REGISTER_NUMERICS(double);

#undef REGISTER_NUMERICS

REGISTER_KERNEL_BUILDER(Name("RecursiveAssertRows").Device(tf::DEVICE_CPU),
                        AssertRowsOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveFormatRows").Device(tf::DEVICE_CPU),
                        FormatRowsOp);

}  // namespace
}  // namespace recursive_tf
