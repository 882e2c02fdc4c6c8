#include "recursive_tf/cc/tf/pool_gradients.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/tf/replace_node.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

constexpr char kReplaced[] = "MaxPoolGrad";
constexpr char kReluGradient[] = "ReluGrad";
constexpr char kGradient[] = "RecursiveMaxPoolGradient";
// The inputs of a gradient of TensorFlow.
enum : int { kPooledFrom, kPooled, kGradientOfPooled };
constexpr const char* kAttributes[] = {"ksize", "strides", "padding"};

// Returns whether numbers of a dtype are computed with as floats, which is
// exact but for sums: these are rounded once, and not each time.
bool IsNarrow(tf::DataType type) {
  return type == tf::DT_HALF || type == tf::DT_BFLOAT16;
}

// Returns whether an image is pooled along its height and width, as the kernel
// takes it.
bool IsOfImages(const tf::Node& node) {
  std::string format;
  std::string padding;
  std::vector<int32_t> sizes;
  std::vector<int32_t> strides;
  tf::DataType type = tf::DT_INVALID;
  return tf::TryGetNodeAttr(node.attrs(), "data_format", &format) &&
         tf::TryGetNodeAttr(node.attrs(), "padding", &padding) &&
         tf::TryGetNodeAttr(node.attrs(), "ksize", &sizes) &&
         tf::TryGetNodeAttr(node.attrs(), "strides", &strides) &&
         tf::TryGetNodeAttr(node.attrs(), "T", &type) && format == "NHWC" &&
         padding != "EXPLICIT" && sizes.size() == 4 && strides.size() == 4 &&
         sizes[0] == 1 && sizes[3] == 1 && strides[0] == 1 && strides[3] == 1 &&
         int64_t{sizes[1]} * sizes[2] <= kMaxWindowSize &&
         (type == tf::DT_FLOAT || type == tf::DT_DOUBLE || IsNarrow(type));
}

bool IsReshape(const tf::Node& node) {
  return node.type_string() == "Reshape" || node.IsIdentity();
}

// Returns where the numbers of an edge come from, whatever their shape.
const tf::Edge& NumbersOf(const tf::Edge& edge) {
  const tf::Edge* found = &edge;
  const tf::Edge* input = nullptr;
  while (IsReshape(*found->src()) && found->src()->input_edge(0, &input).ok()) {
    found = input;
  }
  return *found;
}

// Returns the gradient of the Relu that gave the images, if it is all that
// takes the gradient of the pooling; else null.
tf::Node* ReluGradientOf(const tf::Node& pool, const tf::Edge& images) {
  const tf::Node* given = &pool;
  const tf::Edge* taken = nullptr;
  do {
    if (given->out_edges().size() != 1) return nullptr;
    taken = *given->out_edges().begin();
    given = taken->dst();
  } while (IsReshape(*given));
  const tf::Edge* features = nullptr;
  if (given->type_string() != kReluGradient || taken->dst_input() != 0 ||
      !given->input_edge(1, &features).ok()) {
    return nullptr;
  }
  const tf::Edge& rectified = NumbersOf(*features);
  const tf::Edge& pooled = NumbersOf(images);
  const bool is_same = rectified.src() == pooled.src() &&
                       rectified.src_output() == pooled.src_output();
  return is_same ? taken->dst() : nullptr;
}

// Sets `*cast` to an op that gives `value` in another dtype.
absl::Status AddCast(const tf::NodeBuilder::NodeOut& value, tf::DataType type,
                     tf::Graph* graph, tf::Node** cast) {
  tf::NodeBuilder builder(graph->NewName(value.node->name()), "Cast");
  builder.Input(value)
      .Attr("DstT", type)
      .Device(value.node->requested_device());
  TF_RETURN_IF_ERROR(builder.Finalize(graph, cast));
  (*cast)->set_assigned_device_name(value.node->assigned_device_name());
  return absl::OkStatus();
}

// Puts the kernel's op in the place of `pool`, and of the gradient of a Relu.
absl::Status Replace(tf::Node* pool, tf::Graph* graph) {
  const tf::Edge* images = nullptr;
  const tf::Edge* gradient = nullptr;
  TF_RETURN_IF_ERROR(pool->input_edge(kPooledFrom, &images));
  TF_RETURN_IF_ERROR(pool->input_edge(kGradientOfPooled, &gradient));
  tf::Node* const relu = ReluGradientOf(*pool, *images);
  const tf::DataType type = pool->output_type(0);
  const bool is_narrow = IsNarrow(type);
  tf::NodeBuilder builder(graph->NewName(pool->name()), kGradient);
  for (const tf::Edge* taken : {images, gradient}) {
    tf::Node* source = taken->src();
    int output = taken->src_output();
    if (is_narrow) {
      TF_RETURN_IF_ERROR(
          AddCast({source, output}, tf::DT_FLOAT, graph, &source));
      output = 0;
    }
    builder.Input(source, output);
  }
  builder.Attr("of_relu", relu != nullptr).Device(pool->requested_device());
  for (const char* name : kAttributes) {
    builder.Attr(name, *pool->attrs().Find(name));
  }
  tf::Node* node = nullptr;
  TF_RETURN_IF_ERROR(builder.Finalize(graph, &node));
  node->set_assigned_device_name(pool->assigned_device_name());
  if (is_narrow) TF_RETURN_IF_ERROR(AddCast({node, 0}, type, graph, &node));
  ReplaceNode(pool, node, /*first_output=*/0, graph);
  if (relu == nullptr) return absl::OkStatus();
  tf::Node* rectified = nullptr;
  TF_RETURN_IF_ERROR(relu->input_node(0, &rectified));
  ReplaceNode(relu, rectified, /*first_output=*/0, graph);
  return absl::OkStatus();
}

}  // namespace

void ReplacePoolGradients(tf::Graph* graph) {
  std::vector<tf::Node*> gradients;
  for (tf::Node* node : graph->op_nodes()) {
    if (node->type_string() == kReplaced && IsOfImages(*node)) {
      gradients.push_back(node);
    }
  }
  // One that cannot be replaced stays what it was.
  for (tf::Node* gradient : gradients) Replace(gradient, graph).IgnoreError();
}

}  // namespace recursive_tf
