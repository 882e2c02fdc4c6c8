// Whether what is to number vertices does.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// A number that is of no vertex, and the row where it stands.
struct WrongVertex {
  int64_t row = 0;
  int64_t number = 0;
};

// Returns the row of an element of ragged rows, which begin at `splits`.
template <typename S>
int64_t RaggedRowOf(int64_t index, const tf::Tensor& splits) {
  const S* const begin = splits.flat<S>().data();
  const S* const end = begin + splits.NumElements();
  return std::upper_bound(begin, end, static_cast<S>(index)) - begin - 1;
}

template <typename T>
class CheckedVerticesOp : public tf::OpKernel {
 public:
  explicit CheckedVerticesOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("lowest", &lowest_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("words", &words_));
    OP_REQUIRES(ctx, words_.size() == 3,
                absl::InvalidArgumentError("words must be three"));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    tf::OpInputList numbers;
    OP_REQUIRES_OK(ctx, ctx->input_list("numbers", &numbers));
    const tf::Tensor* count = nullptr;
    OP_REQUIRES_OK(ctx, ctx->input("count", &count));
    OP_REQUIRES(ctx, count->NumElements() == 1,
                absl::InvalidArgumentError("count must be a scalar"));
    tf::OpInputList splits;
    OP_REQUIRES_OK(ctx, ctx->input_list("splits", &splits));
    const int64_t num_vertices = count->flat<int32_t>()(0);
    std::optional<WrongVertex> first;
    for (int i = 0; i < numbers.size(); ++i) {
      const auto wrong = FindWrong(numbers[i], num_vertices, splits);
      if (!wrong.has_value()) continue;
      if (!first.has_value() || wrong->row < first->row) first = wrong;
    }
    OP_REQUIRES(ctx, !first.has_value(), InWords(*first, num_vertices));
    for (int i = 0; i < numbers.size(); ++i) GiveOut(i, numbers[i], ctx);
  }

  bool IsExpensive() override { return false; }

 private:
  std::optional<WrongVertex> FindWrong(const tf::Tensor& numbers,
                                       int64_t num_vertices,
                                       const tf::OpInputList& splits) const {
    const T* const all = numbers.flat<T>().data();
    const int64_t size = numbers.NumElements();
    const auto is_wrong = [this, num_vertices](T number) {
      return (number < lowest_) | (number >= num_vertices);
    };
    bool is_any_wrong = false;  // In a loop without branches.
    for (int64_t i = 0; i < size; ++i) is_any_wrong |= is_wrong(all[i]);
    if (!is_any_wrong) return std::nullopt;
    const int64_t at = std::find_if(all, all + size, is_wrong) - all;
    return WrongVertex{RowOf(at, numbers, splits), all[at]};
  }

  static int64_t RowOf(int64_t index, const tf::Tensor& numbers,
                       const tf::OpInputList& splits) {
    if (splits.size() == 0) {
      return numbers.dims() < 2 ? index : index / numbers.dim_size(1);
    }
    return splits[0].dtype() == tf::DT_INT32
               ? RaggedRowOf<int32_t>(index, splits[0])
               : RaggedRowOf<int64_t>(index, splits[0]);
  }

  absl::Status InWords(const WrongVertex& wrong, int64_t num_vertices) const {
    return absl::InvalidArgumentError(
        absl::StrCat(words_[0], wrong.row, words_[1], wrong.number, words_[2],
                     num_vertices, "."));
  }

  static void GiveOut(int i, const tf::Tensor& numbers,
                      tf::OpKernelContext* ctx) {
    if constexpr (std::is_same_v<T, int32_t>) {
      ctx->set_output(i, numbers);
    } else {
      tf::Tensor* checked = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(i, numbers.shape(), &checked));
      checked->flat<int32_t>() = numbers.flat<T>().template cast<int32_t>();
    }
  }

  int64_t lowest_ = 0;
  std::vector<std::string> words_;
};

#define REGISTER_VERTICES(T)                               \
  REGISTER_KERNEL_BUILDER(Name("RecursiveCheckedVertices") \
                              .Device(tf::DEVICE_CPU)      \
                              .TypeConstraint<T>("T"),     \
                          CheckedVerticesOp<T>)

REGISTER_VERTICES(int32_t);
REGISTER_VERTICES(int64_t);

#undef REGISTER_VERTICES

}  // namespace
}  // namespace recursive_tf
