#include "recursive_tf/cc/tf/looked_up.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "recursive_tf/cc/tf/row_numbers.h"
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

// Returns whether an op gives what it takes. Rows of no table are looked up by
// launches.
bool DoesNothing(const tf::Node& node) {
  return node.IsIdentity() || node.type_string() == "RecursiveNotEmpty";
}

// Returns what an input of an op is, behind ops that do nothing; or null.
const tf::Node* InputOf(const tf::Node& node, int index) {
  const tf::Node* input = nullptr;
  if (!node.input_node(index, &input).ok()) return nullptr;
  while (DoesNothing(*input)) {
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

bool IsCheck(const tf::Node& node) {
  return node.type_string() == "RecursiveWantedIds";
}

// The form of one that is speculative: what there is no row of is zero. Who
// wants a row that is not there is launched.
bool IsGatherOfRowsThatMayLack(const tf::Node& node) {
  if (node.type_string() != "GatherNd") return false;
  const tf::Node* numbers = InputOf(node, 1);
  if (numbers != nullptr && IsCheck(*numbers)) numbers = InputOf(*numbers, 0);
  return numbers != nullptr && numbers->type_string() == "Reshape" &&
         ArgumentOf(*numbers, 0) == kNumber &&
         IntegersAt(*numbers, 1) == std::vector<int32_t>{-1, 1};
}

// Returns the table that an op looks up something in; none if it is computed.
std::optional<LookedUpTable> TableOf(const tf::Node& lookup) {
  LookedUpTable table;
  if (IsConstant(InputOf(lookup, 0), &table.constant)) return table;
  const int32_t argument = ArgumentOf(lookup, 0);
  if (argument <= kNumber) return std::nullopt;
  table.invariant = argument - 1 - kNumber;
  return table;
}

bool IsGather(const tf::Node& node) {
  return node.type_string() == "GatherV2" || node.type_string() == "GatherNd";
}

bool IsPlain(const tf::Node& node) {
  return node.IsArg() || node.IsRetval() || node.IsConstant() ||
         DoesNothing(node);
}

// Returns whether an op computes a number of others, for any numbers: what
// divides may have nothing to divide by.
bool IsOfNumbers(const tf::Node& node) {
  static const auto* const shapes =
      new std::set<std::string>{"ExpandDims", "Pack", "Reshape", "Squeeze"};
  if (shapes->count(node.type_string()) > 0) return true;
  const std::optional<NumberOp> op = NumberOpOf(node.type_string());
  return op.has_value() && *op != NumberOp::kFloorDiv &&
         *op != NumberOp::kFloorMod;
}

bool GivesWholeNumbers(const tf::Node& node) {
  return absl::c_all_of(node.output_types(), IsWholeNumber);
}

}  // namespace

std::vector<LookedUpTable> TablesOfRows(const tf::Graph& function) {
  std::map<int32_t, LookedUpTable> tables;
  for (const tf::Node* node : function.op_nodes()) {
    if (!IsPlain(*node) && !IsGather(*node) && !IsCheck(*node) &&
        !IsOfNumbers(*node)) {
      return {};
    }
    if (!node->IsRetval()) continue;
    int32_t index = 0;
    const tf::Node* const lookup = InputOf(*node, 0);
    if (lookup == nullptr ||
        !tf::TryGetNodeAttr(node->attrs(), "index", &index) ||
        (!IsGatherOfRows(*lookup) && !IsGatherOfRowsThatMayLack(*lookup))) {
      return {};
    }
    const std::optional<LookedUpTable> table = TableOf(*lookup);
    if (!table.has_value()) return {};
    tables[index] = *table;
  }
  std::vector<LookedUpTable> in_order;
  in_order.reserve(tables.size());
  for (auto& [index, table] : tables) in_order.push_back(std::move(table));
  return in_order;
}

std::vector<LookedUpTable> TablesOfNumbers(const tf::Graph& function) {
  std::vector<LookedUpTable> tables;
  for (const tf::Node* node : function.op_nodes()) {
    if (IsPlain(*node)) continue;
    if (!GivesWholeNumbers(*node)) return {};
    if (IsOfNumbers(*node) || IsCheck(*node)) continue;
    if (!IsGather(*node)) return {};
    std::optional<LookedUpTable> table = TableOf(*node);
    if (!table.has_value()) return {};
    tables.push_back(*std::move(table));
  }
  return tables;
}

}  // namespace recursive_tf
