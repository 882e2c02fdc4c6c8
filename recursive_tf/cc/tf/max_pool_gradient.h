#ifndef RECURSIVE_TF_CC_TF_MAX_POOL_GRADIENT_H_
#define RECURSIVE_TF_CC_TF_MAX_POOL_GRADIENT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/tf/chosen_kernels.h"
#include "tensorflow/core/framework/kernel_shape_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/util/padding.h"
#include "tensorflow/core/util/work_sharder.h"

namespace recursive_tf {

// The gradient of max pooling as an op has it: what the attributes say, and
// rows of pixels shared among the threads of a device.
class MaxPoolGradient {
 public:
  absl::Status Read(tensorflow::OpKernelConstruction* ctx) {
    TF_RETURN_IF_ERROR(CheckChosenSet());
    TF_RETURN_IF_ERROR(ctx->GetAttr("ksize", &sizes_));
    TF_RETURN_IF_ERROR(ctx->GetAttr("strides", &strides_));
    TF_RETURN_IF_ERROR(ctx->GetAttr("padding", &padding_));
    TF_RETURN_IF_ERROR(ctx->GetAttr("of_relu", &of_relu_));
    if (sizes_.size() == 4 && strides_.size() == 4) return absl::OkStatus();
    return absl::InvalidArgumentError("Windows of images have four sizes.");
  }

  // Allocates and fills the output of images and the gradient of windows.
  template <typename T>
  absl::Status Run(tensorflow::OpKernelContext* ctx) const {
    const tensorflow::Tensor& images = ctx->input(0);
    const tensorflow::Tensor& gradient = ctx->input(1);
    PoolGradientWork<T> work;
    TF_RETURN_IF_ERROR(SetSizes(images, gradient.shape(), &work));
    tensorflow::Tensor* gradients = nullptr;
    TF_RETURN_IF_ERROR(ctx->allocate_output(0, images.shape(), &gradients));
    if (images.NumElements() == 0) return absl::OkStatus();
    work.images = images.flat<T>().data();
    work.gradient = gradient.flat<T>().data();
    work.gradients = gradients->flat<T>().data();
    const auto& workers = *ctx->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(workers.num_threads, workers.workers,
                      images.dim_size(0) * work.height.num_pixels,
                      CostOfRow(work), [&work](int64_t begin, int64_t end) {
                        PoolGradientWork<T> part = work;
                        part.begin = begin;
                        part.end = end;
                        ChosenKernels<T>().pool_gradient(part);
                      });
    return absl::OkStatus();
  }

 private:
  template <typename T>
  absl::Status SetSizes(const tensorflow::Tensor& images,
                        const tensorflow::TensorShape& gradient,
                        PoolGradientWork<T>* work) const {
    if (images.dims() != 4) {
      return absl::InvalidArgumentError("Images have four dimensions.");
    }
    TF_RETURN_IF_ERROR(SetGrid(images, 1, &work->height));
    TF_RETURN_IF_ERROR(SetGrid(images, 2, &work->width));
    work->num_channels = images.dim_size(3);
    work->of_relu = of_relu_;
    const tensorflow::TensorShape expected(
        {images.dim_size(0), work->height.num_windows, work->width.num_windows,
         work->num_channels});
    if (gradient == expected) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "The gradient of a max pooling has the shape ", gradient.DebugString(),
        ", not ", expected.DebugString(), "."));
  }

  absl::Status SetGrid(const tensorflow::Tensor& images, int dimension,
                       WindowGrid* grid) const {
    grid->num_pixels = images.dim_size(dimension);
    grid->size = sizes_[dimension];
    grid->stride = strides_[dimension];
    return tensorflow::GetWindowedOutputSize(
        grid->num_pixels, grid->size, /*dilation_rate=*/1, grid->stride,
        padding_, &grid->num_windows, &grid->padding);
  }

  // Cycles, about: each window that has a number reads it, and adds to its
  // gradient.
  template <typename T>
  int64_t CostOfRow(const PoolGradientWork<T>& work) const {
    const int64_t num_windows =
        1 + work.height.size * work.width.size /
                (work.height.stride * work.width.stride);
    return work.width.num_pixels * work.num_channels * num_windows;
  }

  std::vector<int32_t> sizes_;
  std::vector<int32_t> strides_;
  tensorflow::Padding padding_ = tensorflow::VALID;
  bool of_relu_ = false;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_MAX_POOL_GRADIENT_H_
