#ifndef RECURSIVE_TF_CC_TF_TEAM_OF_H_
#define RECURSIVE_TF_CC_TF_TEAM_OF_H_

#include <functional>
#include <utility>

#include "recursive_tf/cc/blocks/team.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// Returns a team of the threads that TensorFlow has for the work of one op. The
// op must not be done before the team's last job is.
inline Team TeamOf(tensorflow::OpKernelContext* ctx) {
  const auto* threads = ctx->device()->tensorflow_cpu_worker_threads();
  return Team(threads->num_threads, [threads](std::function<void()> run) {
    threads->workers->Schedule(std::move(run));
  });
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_TEAM_OF_H_
