// Keys of invocations, and rows of random numbers.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/mix_key.h"
#include "recursive_tf/cc/tf/random_rows.h"
#include "tensorflow/core/framework/bfloat16.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/tensor_util.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;
using tf::random::PhiloxRandom;

class MixKeyOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    const tf::Tensor& keys = ctx->input(0);
    const tf::Tensor& numbers = ctx->input(1);
    const bool one_key = keys.dims() == 0;
    const bool one_number = numbers.dims() == 0;
    OP_REQUIRES(ctx, one_key || one_number || keys.shape() == numbers.shape(),
                absl::InvalidArgumentError(absl::StrCat(
                    "keys have shape ", keys.shape().DebugString(),
                    ", but numbers ", numbers.shape().DebugString())));
    tf::Tensor* mixed = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, (one_key ? numbers : keys).shape(), &mixed));
    const uint64_t* key = keys.flat<uint64_t>().data();
    const uint64_t* number = numbers.flat<uint64_t>().data();
    uint64_t* out = mixed->flat<uint64_t>().data();
    for (int64_t i = 0; i < mixed->NumElements(); ++i) {
      out[i] = MixKey(key[one_key ? 0 : i], number[one_number ? 0 : i]);
    }
  }

  bool IsExpensive() override { return false; }
};

template <typename Seed>
class KeyRowsOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    const tf::Tensor& seeds = ctx->input(0);
    OP_REQUIRES(ctx, seeds.dims() == 2 && seeds.dim_size(1) == 2,
                absl::InvalidArgumentError(
                    absl::StrCat("seeds must have shape [N, 2], not ",
                                 seeds.shape().DebugString())));
    const int64_t num_rows = seeds.dim_size(0);
    tf::Tensor* keys = nullptr;
    tf::Tensor* counters = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {num_rows, 1}, &keys));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {num_rows, 2}, &counters));
    const Seed* seed = seeds.flat<Seed>().data();
    uint64_t* key = keys->flat<uint64_t>().data();
    uint64_t* counter = counters->flat<uint64_t>().data();
    for (int64_t row = 0; row < num_rows; ++row) {
      KeyAndCounterOf(static_cast<uint64_t>(seed[2 * row]),
                      static_cast<uint64_t>(seed[(2 * row) + 1]), key + row,
                      counter + (2 * row));
    }
  }
};

// What all ops that draw rows do before they draw.
class RandomRowsOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    const tf::Tensor& keys = ctx->input(1);
    const tf::Tensor& counters = ctx->input(2);
    OP_REQUIRES(
        ctx, keys.dims() == 2 && keys.dim_size(1) == 1,
        absl::InvalidArgumentError(absl::StrCat(
            "keys must have shape [N, 1], not ", keys.shape().DebugString())));
    OP_REQUIRES(ctx,
                counters.dims() == 2 && counters.dim_size(1) >= 2 &&
                    counters.dim_size(0) == keys.dim_size(0),
                absl::InvalidArgumentError(
                    absl::StrCat("counters must have shape [N, 2], not ",
                                 counters.shape().DebugString())));
    tf::TensorShape shape;
    OP_REQUIRES_OK(ctx, tf::tensor::MakeShape(ctx->input(0), &shape));
    OP_REQUIRES_OK(ctx, shape.InsertDimWithStatus(0, keys.dim_size(0)));
    OP_REQUIRES_OK(ctx, Check(ctx));
    tf::Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    if (output->NumElements() > 0) Draw(ctx, keys, counters, output);
  }

 protected:
  virtual absl::Status Check(tf::OpKernelContext* /*ctx*/) {
    return absl::OkStatus();
  }

  virtual void Draw(tf::OpKernelContext* ctx, const tf::Tensor& keys,
                    const tf::Tensor& counters, tf::Tensor* output) = 0;
};

template <typename Distribution>
class DrawRowsOp : public RandomRowsOp {
 public:
  using RandomRowsOp::RandomRowsOp;

 protected:
  void Draw(tf::OpKernelContext* ctx, const tf::Tensor& keys,
            const tf::Tensor& counters, tf::Tensor* output) override {
    FillRandomRows<Distribution>(
        ctx, keys, counters, [](int64_t /*row*/) { return Distribution(); },
        output);
  }
};

template <typename T>
class IntRowsOp : public RandomRowsOp {
  using Distribution = tf::random::UniformDistribution<PhiloxRandom, T>;

 public:
  using RandomRowsOp::RandomRowsOp;

 protected:
  absl::Status Check(tf::OpKernelContext* ctx) override {
    const tf::TensorShape rows({ctx->input(1).dim_size(0)});
    for (int i = 3; i < 5; ++i) {
      if (ctx->input(i).shape() != rows) {
        return absl::InvalidArgumentError(
            absl::StrCat("bounds must have shape ", rows.DebugString(),
                         ", not ", ctx->input(i).shape().DebugString()));
      }
    }
    for (int64_t row = 0; row < rows.dim_size(0); ++row) {
      const T low = ctx->input(3).flat<T>()(row);
      const T high = ctx->input(4).flat<T>()(row);
      if (low >= high) {
        return absl::InvalidArgumentError(
            absl::StrCat("Need minval < maxval, got ", low, " >= ", high));
      }
    }
    return absl::OkStatus();
  }

  void Draw(tf::OpKernelContext* ctx, const tf::Tensor& keys,
            const tf::Tensor& counters, tf::Tensor* output) override {
    const T* low = ctx->input(3).flat<T>().data();
    const T* high = ctx->input(4).flat<T>().data();
    FillRandomRows<Distribution>(
        ctx, keys, counters,
        [low, high](int64_t row) { return Distribution(low[row], high[row]); },
        output);
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursiveMixKey").Device(tf::DEVICE_CPU),
                        MixKeyOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveKeyRows")
                            .Device(tf::DEVICE_CPU)
                            .TypeConstraint<int32_t>("Tseed"),
                        KeyRowsOp<int32_t>);
REGISTER_KERNEL_BUILDER(Name("RecursiveKeyRows")
                            .Device(tf::DEVICE_CPU)
                            .TypeConstraint<int64_t>("Tseed"),
                        KeyRowsOp<int64_t>);

template <typename T>
using UniformRowsOp =
    DrawRowsOp<tf::random::UniformDistribution<PhiloxRandom, T>>;
template <typename T>
using NormalRowsOp =
    DrawRowsOp<tf::random::NormalDistribution<PhiloxRandom, T>>;
// Takes single numbers, because it may need several for one that is in range.
template <typename T>
using TruncatedNormalRowsOp =
    DrawRowsOp<tf::random::TruncatedNormalDistribution<
        tf::random::SingleSampleAdapter<PhiloxRandom>, T>>;
template <typename T>
using FullIntRowsOp =
    DrawRowsOp<tf::random::UniformFullIntDistribution<PhiloxRandom, T>>;

#define REGISTER_DRAW(NAME, TYPE, OP) \
  REGISTER_KERNEL_BUILDER(            \
      Name(NAME).Device(tf::DEVICE_CPU).TypeConstraint<TYPE>("dtype"), OP)

#define REGISTER_FLOATING(TYPE)                                     \
  REGISTER_DRAW("RecursiveUniformRows", TYPE, UniformRowsOp<TYPE>); \
  REGISTER_DRAW("RecursiveNormalRows", TYPE, NormalRowsOp<TYPE>);   \
  REGISTER_DRAW("RecursiveTruncatedNormalRows", TYPE,               \
                TruncatedNormalRowsOp<TYPE>)

REGISTER_FLOATING(Eigen::half);
REGISTER_FLOATING(tf::bfloat16);
REGISTER_FLOATING(float);
REGISTER_FLOATING(double);

#define REGISTER_FULL_INT(TYPE) \
  REGISTER_DRAW("RecursiveFullIntRows", TYPE, FullIntRowsOp<TYPE>)

REGISTER_FULL_INT(int32_t);
REGISTER_FULL_INT(int64_t);
REGISTER_FULL_INT(uint32_t);
REGISTER_FULL_INT(uint64_t);

#define REGISTER_INT(TYPE) \
  REGISTER_DRAW("RecursiveIntRows", TYPE, IntRowsOp<TYPE>)

REGISTER_INT(int32_t);
REGISTER_INT(int64_t);

}  // namespace
}  // namespace recursive_tf
