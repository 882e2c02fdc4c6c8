#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/row_groups.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Gives what it takes if each row is there once, as where rows are shared.
template <typename Index>
class AddUpSlicesOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    const tf::Tensor& values = ctx->input(0);
    const tf::Tensor& indices = ctx->input(1);
    OP_REQUIRES_OK(ctx, Check(values, indices));
    const auto* const rows = static_cast<const Index*>(indices.data());
    const RowGroups groups(rows, static_cast<int32_t>(indices.NumElements()));
    const auto num_groups = static_cast<int64_t>(groups.heads().size());
    if (num_groups == indices.NumElements()) {
      ctx->set_output(0, values);
      ctx->set_output(1, indices);
      return;
    }
    tf::TensorShape shape = values.shape();
    shape.set_dim(0, num_groups);
    tf::Tensor* sums = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &sums));
    tf::Tensor* own = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {num_groups}, &own));
    AddUp(values, rows, groups, sums, own);
  }

 private:
  static absl::Status Check(const tf::Tensor& values,
                            const tf::Tensor& indices) {
    if (values.dims() > 0 && indices.dims() == 1 &&
        values.dim_size(0) == indices.dim_size(0) && CanAdd(values.dtype())) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("Slices of the dtype ", tf::DataTypeString(values.dtype()),
                     " and the shape ", values.shape().DebugString(),
                     " do not fit indices of the shape ",
                     indices.shape().DebugString(), "."));
  }

  static void AddUp(const tf::Tensor& values, const Index* rows,
                    const RowGroups& groups, tf::Tensor* sums,
                    tf::Tensor* indices) {
    const RowView from(values);
    const RowView to(*sums);
    auto* const own = static_cast<Index*>(indices->data());
    int64_t group = 0;
    for (const int32_t head : groups.heads()) {
      own[group] = rows[head];
      CopyRows(from, head, 1, to, group);
      for (int32_t place = groups.next(head); place >= 0;
           place = groups.next(place)) {
        AddPartOfRow(from, place, 0, to, group);
      }
      ++group;
    }
  }
};

#define RECURSIVE_TF_REGISTER(Index)                              \
  REGISTER_KERNEL_BUILDER(Name("RecursiveAddUpSlices")            \
                              .Device(tf::DEVICE_CPU)             \
                              .TypeConstraint<Index>("Tindices"), \
                          AddUpSlicesOp<Index>)
RECURSIVE_TF_REGISTER(int32_t);
RECURSIVE_TF_REGISTER(int64_t);
#undef RECURSIVE_TF_REGISTER

}  // namespace
}  // namespace recursive_tf
