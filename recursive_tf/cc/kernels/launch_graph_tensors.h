#ifndef RECURSIVE_TF_CC_KERNELS_LAUNCH_GRAPH_TENSORS_H_
#define RECURSIVE_TF_CC_KERNELS_LAUNCH_GRAPH_TENSORS_H_

#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/batching/recording.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// How many inputs of an op launch graphs are: ranks, num_nodes, blocks,
// call_depths, num_waits, waits.
constexpr int kNumGraphInputs = 6;

// Sets `*graphs` to what the first inputs of an op say, if they say graphs.
absl::Status GetLaunchGraphs(tensorflow::OpKernelContext* ctx,
                             std::vector<LaunchGraph>* graphs);

// Sets the outputs of an op to runs, one behind the other.
void SetRecordedRuns(const std::vector<RecordedRun>& runs,
                     tensorflow::OpKernelContext* ctx);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_KERNELS_LAUNCH_GRAPH_TENSORS_H_
