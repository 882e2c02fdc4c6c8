#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/tf/failed_row.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

class NotEmptyOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    const tf::Tensor& table = ctx->input(0);
    OP_REQUIRES(ctx, table.dims() > 0,
                absl::InvalidArgumentError(
                    absl::StrCat("A table has the shape [rows, ...], not ",
                                 table.shape().DebugString(), ".")));
    if (table.dim_size(0) > 0) return ctx->set_output(0, table);
    tf::TensorShape shape = table.shape();
    shape.set_dim(0, 1);
    tf::Tensor* filled = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &filled));
    std::memset(filled->data(), 0, filled->TotalBytes());
  }

  bool IsExpensive() override { return false; }
};

template <typename T>
class WantedIdsOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    const tf::Tensor& ids = ctx->input(0);
    const tf::Tensor& wanted = ctx->input(1);
    OP_REQUIRES_OK(ctx, CheckShapes(ids, wanted, ctx->input(2).dims()));
    const int64_t num_rows = ids.dim_size(0);
    for (int64_t row = 0; row < num_rows; ++row) {
      if (!wanted.flat<bool>()(row)) continue;
      OP_REQUIRES_OK(ctx, CheckRow(ids, row, ctx->input(2).shape()));
    }
    ctx->set_output(0, ids);
  }

  bool IsExpensive() override { return false; }

 private:
  static absl::Status CheckShapes(const tf::Tensor& ids,
                                  const tf::Tensor& wanted, int num_axes) {
    if (ids.dims() > 1 && wanted.dims() == 1 &&
        wanted.dim_size(0) == ids.dim_size(0) &&
        ids.dim_size(ids.dims() - 1) <= num_axes) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "Ids have the shape [N, ..., k], and who wants them [N], not ",
        ids.shape().DebugString(), " and ", wanted.shape().DebugString(),
        " of a table with ", num_axes, " axes."));
  }

  static absl::Status CheckRow(const tf::Tensor& ids, int64_t row,
                               const tf::TensorShape& table) {
    const int64_t num_axes = ids.dim_size(ids.dims() - 1);
    const int64_t row_size = ids.NumElements() / ids.dim_size(0);
    const T* const first = ids.flat<T>().data() + row * row_size;
    for (int64_t i = 0; i < row_size; ++i) {
      const int64_t size = table.dim_size(static_cast<int>(i % num_axes));
      if (first[i] >= 0 && first[i] < size) continue;
      return WithFailedRow(
          absl::InvalidArgumentError(absl::StrCat(
              "indices = ", first[i], " is not in [0, ", size, ")")),
          row);
    }
    return absl::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursiveNotEmpty").Device(tf::DEVICE_CPU),
                        NotEmptyOp);
#define RECURSIVE_TF_WANTED_IDS(T)                        \
  REGISTER_KERNEL_BUILDER(Name("RecursiveWantedIds")      \
                              .Device(tf::DEVICE_CPU)     \
                              .TypeConstraint<T>("Tids"), \
                          WantedIdsOp<T>)
RECURSIVE_TF_WANTED_IDS(int16_t);
RECURSIVE_TF_WANTED_IDS(int32_t);
RECURSIVE_TF_WANTED_IDS(int64_t);
#undef RECURSIVE_TF_WANTED_IDS

}  // namespace
}  // namespace recursive_tf
