#include "recursive_tf/cc/tf/kept_bytes.h"

#include <cstdint>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/kernels/tensor_list.h"

namespace recursive_tf {

namespace tf = tensorflow;

int64_t KeptBytes::Add(const std::vector<tf::Tensor>& values) {
  constexpr int64_t kOfEntry = 160;
  int64_t bytes = kOfEntry;
  for (const tf::Tensor& value : values) {
    bytes += BytesOf(value, /*is_shared=*/false);
  }
  return bytes;
}

int64_t KeptBytes::BytesOf(const tf::Tensor& value, bool is_shared) {
  constexpr int64_t kOfTensor = 160;
  constexpr int64_t kLarge = 1024;
  if (value.dtype() == tf::DT_VARIANT) return kOfTensor + BytesOfItems(value);
  const auto size = static_cast<int64_t>(value.TotalBytes());
  if (size < kLarge) return (kOfTensor + size) / (is_shared ? 2 : 1);
  return counted_.Insert(value.data(), true) ? kOfTensor + size : 0;
}

int64_t KeptBytes::BytesOfItems(const tf::Tensor& lists) {
  int64_t bytes = 0;
  const auto variants = lists.flat<tf::Variant>();
  for (int64_t i = 0; i < variants.size(); ++i) {
    const auto* list = variants(i).get<tf::TensorList>();
    if (list == nullptr || !counted_.Insert(&list->tensors(), true)) continue;
    for (const tf::Tensor& item : list->tensors()) {
      // What one op gives and another takes is an item of two lists.
      bytes += BytesOf(item, /*is_shared=*/!item.RefCountIsOne());
    }
  }
  return bytes;
}

}  // namespace recursive_tf
