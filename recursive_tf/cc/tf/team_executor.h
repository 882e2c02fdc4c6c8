#ifndef RECURSIVE_TF_CC_TF_TEAM_EXECUTOR_H_
#define RECURSIVE_TF_CC_TF_TEAM_EXECUTOR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/common_runtime/local_executor_params.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Sets `*executor` to one whose operations run on teams, those with the longest
// way to the end of the graph first (Tang et al. 2018, section 4). Its first
// runs measure the operations. From then on those that take as long as a thread
// needs to wake up go to teams, by levels of measured times, and the others run
// on the thread that made them ready. Where the graph `is_in_calls`, its call
// frames are DeepFrames, and the deepest comes first.
absl::Status NewTeamExecutor(const TeamSchedule& schedule, bool is_in_calls,
                             const tensorflow::LocalExecutorParams& params,
                             const tensorflow::Graph& graph,
                             std::unique_ptr<tensorflow::Executor>* executor);

// Makes TensorFlow run functions by `schedule` if their executor's type is its
// name. Once a name.
void RegisterTeamExecutor(const TeamSchedule& schedule);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_TEAM_EXECUTOR_H_
