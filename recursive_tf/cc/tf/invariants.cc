#include "recursive_tf/cc/tf/invariants.h"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "recursive_tf/cc/tf/new_tensor.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Of a square that stays in cache while it is read by rows and written by
// columns.
constexpr int64_t kTile = 32;

template <typename Element>
void TransposeElements(const tf::Tensor& from, tf::Tensor* to) {
  const int64_t rows = from.dim_size(0);
  const int64_t columns = from.dim_size(1);
  const auto* source = static_cast<const Element*>(from.data());
  auto* target = static_cast<Element*>(to->data());
  for (int64_t top = 0; top < rows; top += kTile) {
    const int64_t bottom = std::min(top + kTile, rows);
    for (int64_t left = 0; left < columns; left += kTile) {
      const int64_t right = std::min(left + kTile, columns);
      for (int64_t column = left; column < right; ++column) {
        for (int64_t row = top; row < bottom; ++row) {
          target[column * rows + row] = source[row * columns + column];
        }
      }
    }
  }
}

// What is no matrix of numbers, the product refuses as it is.
tf::Tensor Transpose(const tf::Tensor& matrix) {
  if (matrix.dims() != 2 || !tf::DataTypeCanUseMemcpy(matrix.dtype())) {
    return matrix;
  }
  tf::Tensor transposed = NewTensorOrThrow(
      matrix.dtype(),
      tf::TensorShape({matrix.dim_size(1), matrix.dim_size(0)}));
  switch (tf::DataTypeSize(matrix.dtype())) {
    case sizeof(uint8_t):
      TransposeElements<uint8_t>(matrix, &transposed);
      break;
    case sizeof(uint16_t):
      TransposeElements<uint16_t>(matrix, &transposed);
      break;
    case sizeof(uint32_t):
      TransposeElements<uint32_t>(matrix, &transposed);
      break;
    case sizeof(uint64_t):
      TransposeElements<uint64_t>(matrix, &transposed);
      break;
    case sizeof(std::complex<double>):
      TransposeElements<std::complex<double>>(matrix, &transposed);
      break;
    default:
      return matrix;
  }
  return transposed;
}

// Returns the argument that `product` transposes as its right factor, or -1.
int32_t TransposedArgument(const tf::Node& product) {
  bool transposes = false;
  const tf::Node* factor = nullptr;
  int32_t index = -1;
  if (product.type_string() != "MatMul" ||
      !tf::GetNodeAttr(product.attrs(), "transpose_b", &transposes).ok() ||
      !transposes || !product.input_node(1, &factor).ok() || !factor->IsArg() ||
      !tf::GetNodeAttr(factor->attrs(), "index", &index).ok()) {
    return -1;
  }
  return index;
}

// Returns whether all that read an argument are products that transpose it.
bool IsOnlyTransposed(const tf::Node& argument, int32_t index) {
  return std::all_of(argument.out_edges().begin(), argument.out_edges().end(),
                     [index](const tf::Edge* edge) {
                       return edge->IsControlEdge() ||
                              (edge->dst_input() == 1 &&
                               TransposedArgument(*edge->dst()) == index);
                     });
}

}  // namespace

std::vector<int32_t> TransposedArguments(int32_t first_argument,
                                         const tf::Graph& graph) {
  std::set<int32_t> found;
  for (const tf::Node* node : graph.op_nodes()) {
    const int32_t index = TransposedArgument(*node);
    const tf::Node* factor = nullptr;
    if (index >= first_argument && node->input_node(1, &factor).ok() &&
        IsOnlyTransposed(*factor, index)) {
      found.insert(index);
    }
  }
  return {found.begin(), found.end()};
}

void TakeTransposed(const std::vector<int32_t>& arguments, tf::Graph* graph) {
  for (tf::Node* node : graph->op_nodes()) {
    const int32_t index = TransposedArgument(*node);
    if (!std::binary_search(arguments.begin(), arguments.end(), index)) {
      continue;
    }
    node->ClearAttr("transpose_b");
    node->AddAttr("transpose_b", false);
  }
}

const tf::Tensor& Invariants::GetTransposed(size_t index) {
  const auto found = transposed_.find(index);
  if (found != transposed_.end()) return found->second;
  return transposed_[index] = Transpose(tensors_[index]);
}

}  // namespace recursive_tf
