#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

class ItemsOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    const tf::Tensor& lengths = ctx->input(0);
    OP_REQUIRES(ctx, lengths.dims() == 1,
                absl::InvalidArgumentError(absl::StrCat(
                    "Lengths of lists have the shape [lists], not ",
                    lengths.shape().DebugString(), ".")));
    const auto* const first = static_cast<const int32_t*>(lengths.data());
    const auto* const last = first + lengths.NumElements();
    OP_REQUIRES(
        ctx, std::all_of(first, last, [](int32_t each) { return each >= 0; }),
        absl::InvalidArgumentError("The length of a list is negative."));
    const int64_t num_items = std::accumulate(first, last, int64_t{0});
    OP_REQUIRES(ctx, num_items <= std::numeric_limits<int32_t>::max(),
                absl::InvalidArgumentError(absl::StrCat(
                    "Lists of one launch have ", num_items,
                    " items, and int32 counts no more than 2,147,483,647. Call "
                    "for fewer trees at a time.")));
    tf::Tensor* owners = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {num_items}, &owners));
    tf::Tensor* positions = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {num_items}, &positions));
    auto* owner = static_cast<int32_t*>(owners->data());
    auto* position = static_cast<int32_t*>(positions->data());
    for (const int32_t* length = first; length < last; ++length) {
      owner = std::fill_n(owner, *length, static_cast<int32_t>(length - first));
      std::iota(position, position + *length, 0);
      position += *length;
    }
  }

  bool IsExpensive() override { return false; }
};

REGISTER_KERNEL_BUILDER(Name("RecursiveItems").Device(tf::DEVICE_CPU), ItemsOp);

}  // namespace
}  // namespace recursive_tf
