#include "recursive_tf/cc/tf/pair_pools.h"

#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"
#include "tensorflow/core/util/util.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

constexpr char kPool[] = "MaxPool";
constexpr char kPoolGradient[] = "MaxPoolGrad";
// The inputs of a gradient.
enum : int { kPooledFrom, kPooled };

bool IsPooledHere(const tf::Edge& pooled, const tf::Edge& from) {
  const tf::Edge* input = nullptr;
  return pooled.src()->type_string() == kPool &&
         pooled.src()->input_edge(0, &input).ok() &&
         input->src() == from.src() && input->src_output() == from.src_output();
}

absl::Status Pair(tf::Node* gradient, tf::Graph* graph) {
  const tf::Edge* from = nullptr;
  const tf::Edge* pooled = nullptr;
  TF_RETURN_IF_ERROR(gradient->input_edge(kPooledFrom, &from));
  TF_RETURN_IF_ERROR(gradient->input_edge(kPooled, &pooled));
  if (IsPooledHere(*pooled, *from)) return absl::OkStatus();
  tf::NodeBuilder builder(graph->NewName(gradient->name()), kPool);
  builder.Input(from->src(), from->src_output());
  for (const char* name : {"T", "ksize", "strides", "padding",
                           "explicit_paddings", "data_format"}) {
    if (const tf::AttrValue* value = gradient->attrs().Find(name)) {
      builder.Attr(name, *value);
    }
  }
  tf::Node* pool = nullptr;
  TF_RETURN_IF_ERROR(builder.Finalize(graph, &pool));
  return graph->UpdateEdge(pool, 0, gradient, kPooled);
}

}  // namespace

void PairPools(tf::Graph* graph) {
  if (!tf::IsMKLEnabled()) return;
  std::vector<tf::Node*> gradients;
  for (tf::Node* node : graph->op_nodes()) {
    if (node->type_string() == kPoolGradient) gradients.push_back(node);
  }
  // One that cannot be paired stays what it was.
  for (tf::Node* gradient : gradients) Pair(gradient, graph).IgnoreError();
}

}  // namespace recursive_tf
