#include "recursive_tf/cc/tf/new_tensor.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "recursive_tf/cc/base/faults.h"
#include "recursive_tf/cc/base/memory_pool.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// Takes memory from the pool of this process.
class PoolAllocator : public tf::Allocator {
 public:
  std::string Name() override { return "recursive_tf"; }
  void* AllocateRaw(size_t alignment, size_t num_bytes) override {
    // TensorFlow asks for no more for any tensor.
    if (alignment > MemoryPool::kAlignment) return nullptr;
    return MemoryPool::Global().Take(num_bytes);
  }
  void DeallocateRaw(void* memory) override {
    MemoryPool::Global().Give(memory);
  }
};

tf::Tensor Make(tf::DataType dtype, const tf::TensorShape& shape) {
  // It outlives all tensors.
  static tf::Allocator* const allocator = new PoolAllocator;
  return tf::Tensor(allocator, dtype, shape);
}

bool HasMemory(const tf::Tensor& tensor) {
  return tensor.IsInitialized() &&
         !Faults::Global().Strikes(Faults::Kind::kAllocation);
}

}  // namespace

absl::Status NewTensor(tf::DataType dtype, absl::Span<const int64_t> sizes,
                       tf::Tensor* made) {
  tf::TensorShape shape;
  TF_RETURN_IF_ERROR(tf::TensorShape::BuildTensorShape(sizes, &shape));
  return NewTensorOfShape(dtype, shape, made);
}

absl::Status NewTensorOfShape(tf::DataType dtype, const tf::TensorShape& shape,
                              tf::Tensor* made) {
  *made = Make(dtype, shape);
  if (HasMemory(*made)) return absl::OkStatus();
  *made = tf::Tensor();
  return absl::ResourceExhaustedError(
      absl::StrCat("there is no memory for a ", tf::DataTypeString(dtype),
                   " of the shape ", shape.DebugString()));
}

tf::Tensor NewTensorOrThrow(tf::DataType dtype, const tf::TensorShape& shape) {
  tf::Tensor made = Make(dtype, shape);
  if (!HasMemory(made)) throw std::bad_alloc();
  return made;
}

absl::Status WithSizes(const tf::Tensor& tensor,
                       absl::Span<const int64_t> sizes, tf::Tensor* same) {
  tf::TensorShape shape;
  TF_RETURN_IF_ERROR(tf::TensorShape::BuildTensorShape(sizes, &shape));
  if (same->CopyFrom(tensor, shape)) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("a tensor of the shape ", tensor.shape().DebugString(),
                   " was to get the shape ", shape.DebugString(),
                   ". That is a fault of recursive_tf; options=rtf.Options("
                   "blocks=\"tensorflow\") does without what has it"));
}

}  // namespace recursive_tf
