#include "recursive_tf/cc/tf/rewrite_network.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/own_ops.h"
#include "tensorflow/core/common_runtime/device.h"
#include "tensorflow/core/common_runtime/device_set.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/grappler/grappler_item.h"
#include "tensorflow/core/grappler/optimizers/meta_optimizer.h"
#include "tensorflow/core/protobuf/config.pb.h"
#include "tensorflow/core/protobuf/rewriter_config.pb.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Of the smallest of Graphi's networks, PathNet, a forward body has half of it.
constexpr int kFewestOps = 200;

bool IsNetwork(const tf::Graph& graph) {
  const auto nodes = graph.op_nodes();
  return graph.num_op_nodes() >= kFewestOps &&
         std::none_of(nodes.begin(), nodes.end(), [](const tf::Node* node) {
           return IsCall(node->type_string());
         });
}

tf::ConfigProto Optimizers() {
  tf::ConfigProto config;
  tf::RewriterConfig* const chosen =
      config.mutable_graph_options()->mutable_rewrite_options();
  // The others look at what a body has not, e.g. functions, or at what is done
  // here anyway (simplify_graph.h).
  for (const char* const name : {"constfold", "arithmetic", "remap"}) {
    chosen->add_optimizers(name);
  }
  chosen->set_meta_optimizer_iterations(tf::RewriterConfig::ONE);
  return config;
}

// As of a function in TensorFlow's runtime: effects stay, and functions that
// are called are rewritten where they run.
tf::grappler::GrapplerItem::OptimizationOptions Permissions() {
  tf::grappler::GrapplerItem::OptimizationOptions permissions;
  permissions.allow_pruning_stateful_and_dataset_ops = false;
  permissions.optimize_function_library = false;
  return permissions;
}

}  // namespace

absl::Status RewriteNetwork(const std::string& name, tf::Device* device,
                            const tf::FunctionLibraryDefinition& library,
                            std::unique_ptr<tf::Graph>* graph) {
  if (!IsNetwork(**graph)) return absl::OkStatus();
  tf::DeviceSet devices;
  devices.AddDevice(device);
  std::vector<std::string> results;
  std::vector<std::string> kept;
  for (tf::Node* node : (*graph)->op_nodes()) {
    node->set_requested_device(device->name());
    if (node->IsRetval()) results.push_back(node->name());
    if (node->IsArg()) kept.push_back(node->name());
  }
  tf::FunctionLibraryDefinition called = library.ReachableDefinitions(**graph);
  return tf::grappler::OptimizeGraph(std::move(results), std::move(kept),
                                     &called, devices, device, Optimizers(),
                                     name, Permissions(), graph);
}

}  // namespace recursive_tf
