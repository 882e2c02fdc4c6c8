#include "recursive_tf/cc/tf/looked_up.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recursive_tf/cc/tf/new_tensor.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// The argument that is the number of a row; those behind it are invariants.
constexpr int32_t kNumber = 0;

// What is no argument.
constexpr int32_t kOther = -1;

using Compare = bool (*)(int32_t, int32_t);

const std::map<std::string, Compare>& Comparisons() {
  static const auto* const comparisons = new std::map<std::string, Compare>{
      {"Equal", [](int32_t a, int32_t b) { return a == b; }},
      {"NotEqual", [](int32_t a, int32_t b) { return a != b; }},
      {"Less", [](int32_t a, int32_t b) { return a < b; }},
      {"LessEqual", [](int32_t a, int32_t b) { return a <= b; }},
      {"Greater", [](int32_t a, int32_t b) { return a > b; }},
      {"GreaterEqual", [](int32_t a, int32_t b) { return a >= b; }},
  };
  return *comparisons;
}

// Returns what an input of an op is, behind ops that do nothing; or null.
const tf::Node* InputOf(const tf::Node& node, int index) {
  const tf::Node* input = nullptr;
  if (!node.input_node(index, &input).ok()) return nullptr;
  while (input->IsIdentity()) {
    if (!input->input_node(0, &input).ok()) return nullptr;
  }
  return input;
}

int32_t ArgumentOf(const tf::Node& node, int index) {
  const tf::Node* const input = InputOf(node, index);
  if (input == nullptr || !input->IsArg()) return kOther;
  int32_t number = kOther;
  return tf::TryGetNodeAttr(input->attrs(), "index", &number) ? number : kOther;
}

// Sets `*value` to the constant that an op is. Returns false if it is none.
bool IsConstant(const tf::Node* node, tf::Tensor* value) {
  return node != nullptr && node->IsConstant() &&
         tf::GetNodeAttr(node->attrs(), "value", value).ok();
}

// Returns the constant integers that an input is; nothing if it is none.
std::vector<int32_t> IntegersAt(const tf::Node& node, int index) {
  tf::Tensor value;
  if (!IsConstant(InputOf(node, index), &value)) return {};
  if (value.dtype() != tf::DT_INT32) return {};
  const auto* const first = static_cast<const int32_t*>(value.data());
  return {first, first + value.NumElements()};
}

bool IsGatherOfRows(const tf::Node& node) {
  int32_t batch_dims = 0;
  return node.type_string() == "GatherV2" &&
         tf::TryGetNodeAttr(node.attrs(), "batch_dims", &batch_dims) &&
         batch_dims == 0 && IntegersAt(node, 2) == std::vector<int32_t>{0} &&
         ArgumentOf(node, 1) == kNumber;
}

// The form of one that is speculative: what there is no row of is zero.
bool IsGatherOfRowsThatMayLack(const tf::Node& node) {
  if (node.type_string() != "GatherNd") return false;
  const tf::Node* const numbers = InputOf(node, 1);
  return numbers != nullptr && numbers->type_string() == "Reshape" &&
         ArgumentOf(*numbers, 0) == kNumber &&
         IntegersAt(*numbers, 1) == std::vector<int32_t>{-1, 1};
}

// Returns of which table an op gives a row; none if it gives something else.
std::optional<LookedUpTable> TableOf(const tf::Node* lookup) {
  if (lookup == nullptr ||
      (!IsGatherOfRows(*lookup) && !IsGatherOfRowsThatMayLack(*lookup))) {
    return std::nullopt;
  }
  LookedUpTable table;
  if (IsConstant(InputOf(*lookup, 0), &table.constant)) return table;
  const int32_t argument = ArgumentOf(*lookup, 0);
  if (argument <= kNumber) return std::nullopt;
  table.invariant = argument - 1 - kNumber;
  return table;
}

// The same, if a number that is looked up is compared with a constant.
std::optional<LookedUpTable> ComparedTableOf(const tf::Node* node) {
  if (node == nullptr || Comparisons().count(node->type_string()) == 0) {
    return TableOf(node);
  }
  const std::vector<int32_t> number = IntegersAt(*node, 1);
  std::optional<LookedUpTable> table = TableOf(InputOf(*node, 0));
  if (number.size() != 1 || !table.has_value()) return std::nullopt;
  table->comparison = {node->type_string(), number.front()};
  return table;
}

// What has an effect is no part of a lookup.
bool MayBePartOfLookup(const tf::Node& node) {
  const std::string& type = node.type_string();
  return node.IsArg() || node.IsRetval() || node.IsIdentity() ||
         node.IsConstant() || type == "GatherV2" || type == "GatherNd" ||
         type == "Reshape" || Comparisons().count(type) > 0;
}

}  // namespace

tf::Tensor LookedUpTable::From(const tf::Tensor& numbers) const {
  if (!comparison.has_value()) return numbers;
  const auto* const first = static_cast<const int32_t*>(numbers.data());
  tf::Tensor table = NewTensorOrThrow(tf::DT_BOOL, numbers.shape());
  const Compare compare = Comparisons().at(comparison->op);
  std::transform(first, first + numbers.NumElements(),
                 static_cast<bool*>(table.data()),
                 [compare, number = comparison->number](int32_t each) {
                   return compare(each, number);
                 });
  return table;
}

std::vector<LookedUpTable> LookedUp(const tf::Graph& function) {
  std::map<int32_t, LookedUpTable> tables;
  for (const tf::Node* node : function.op_nodes()) {
    if (!MayBePartOfLookup(*node)) return {};
    if (!node->IsRetval()) continue;
    int32_t index = 0;
    const std::optional<LookedUpTable> table =
        ComparedTableOf(InputOf(*node, 0));
    if (!table.has_value() ||
        !tf::TryGetNodeAttr(node->attrs(), "index", &index)) {
      return {};
    }
    tables[index] = *table;
  }
  std::vector<LookedUpTable> in_order;
  in_order.reserve(tables.size());
  for (auto& [index, table] : tables) in_order.push_back(std::move(table));
  return in_order;
}

}  // namespace recursive_tf
