#include "recursive_tf/cc/kernels/launch_graph_tensors.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/batching/recording.h"
#include "recursive_tf/cc/kernels/recorded_launch_tensors.h"
#include "recursive_tf/cc/kernels/vectors.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Reads graphs from vectors that may hold anything.
class GraphReader {
 public:
  absl::Status Read(tf::OpKernelContext* ctx,
                    std::vector<LaunchGraph>* graphs) {
    std::vector<int64_t> num_nodes;
    TF_RETURN_IF_ERROR(GetVector(ctx, 0, &ranks_));
    TF_RETURN_IF_ERROR(GetVector(ctx, 1, &num_nodes));
    TF_RETURN_IF_ERROR(GetVector(ctx, 2, &blocks_));
    TF_RETURN_IF_ERROR(GetVector(ctx, 3, &call_depths_));
    TF_RETURN_IF_ERROR(GetVector(ctx, 4, &num_waits_));
    TF_RETURN_IF_ERROR(GetVector(ctx, 5, &waits_));
    if (call_depths_.size() != blocks_.size()) return Wrong("call_depths");
    if (num_waits_.size() != blocks_.size()) return Wrong("num_waits");
    for (const int64_t count : num_nodes) {
      if (count < 0 || static_cast<size_t>(count) > blocks_.size() - node_) {
        return Wrong("num_nodes");
      }
      TF_RETURN_IF_ERROR(ReadGraph(count, &graphs->emplace_back(ranks_)));
    }
    if (node_ != blocks_.size()) return Wrong("num_nodes");
    return wait_ == waits_.size() ? absl::OkStatus() : Wrong("waits");
  }

 private:
  absl::Status ReadGraph(int64_t num_nodes, LaunchGraph* graph) {
    std::vector<int32_t> waits;
    for (int64_t i = 0; i < num_nodes; ++i, ++node_) {
      const int32_t block = blocks_[node_];
      if (block < 0 || block >= graph->num_blocks()) return Wrong("blocks");
      const int32_t count = num_waits_[node_];
      if (count < 0 || static_cast<size_t>(count) > waits_.size() - wait_) {
        return Wrong("num_waits");
      }
      waits.assign(&waits_[wait_], &waits_[wait_] + count);
      wait_ += count;
      for (const int32_t before : waits) {
        if (before < 0 || before >= i) return Wrong("waits");
      }
      graph->Add(block, waits, call_depths_[node_]);
    }
    return absl::OkStatus();
  }

  static absl::Status Wrong(const char* what) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", what, "' does not fit: these are no launch graphs."));
  }

  std::vector<int32_t> ranks_;
  std::vector<int32_t> blocks_;
  std::vector<int32_t> call_depths_;
  std::vector<int32_t> num_waits_;
  std::vector<int32_t> waits_;
  size_t node_ = 0;
  size_t wait_ = 0;
};

}  // namespace

absl::Status GetLaunchGraphs(tf::OpKernelContext* ctx,
                             std::vector<LaunchGraph>* graphs) {
  return GraphReader().Read(ctx, graphs);
}

void SetRecordedRuns(const std::vector<RecordedRun>& runs,
                     tf::OpKernelContext* ctx) {
  std::vector<std::string> subgraphs;
  std::vector<std::string> places;
  std::vector<int64_t> num_blocks;
  std::vector<int64_t> num_nodes;
  std::vector<int32_t> ranks;
  std::vector<int32_t> blocks;
  std::vector<int32_t> call_depths;
  std::vector<int32_t> num_waits;
  std::vector<int32_t> waits;
  for (const RecordedRun& run : runs) {
    const LaunchGraph& graph = run.graph;
    subgraphs.push_back(run.subgraph);
    num_blocks.push_back(graph.num_blocks());
    num_nodes.push_back(graph.num_nodes());
    places.insert(places.end(), run.block_places.begin(),
                  run.block_places.end());
    ranks.insert(ranks.end(), graph.ranks().begin(), graph.ranks().end());
    for (int32_t node = 0; node < graph.num_nodes(); ++node) {
      blocks.push_back(graph.block(node));
      call_depths.push_back(graph.call_depth(node));
      num_waits.push_back(0);
      graph.ForEachWait(node, [&](int32_t before) {
        waits.push_back(before);
        ++num_waits.back();
      });
    }
  }
  ctx->set_output(0, VectorOf(subgraphs));
  ctx->set_output(1, VectorOf(num_blocks));
  ctx->set_output(2, VectorOf(places));
  ctx->set_output(3, VectorOf(ranks));
  ctx->set_output(4, VectorOf(num_nodes));
  ctx->set_output(5, VectorOf(blocks));
  ctx->set_output(6, VectorOf(call_depths));
  ctx->set_output(7, VectorOf(num_waits));
  ctx->set_output(8, VectorOf(waits));
  SetRecordedLaunches(runs, /*first_output=*/9, ctx);
}

}  // namespace recursive_tf
