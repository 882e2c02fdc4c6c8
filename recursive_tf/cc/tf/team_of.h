#ifndef RECURSIVE_TF_CC_TF_TEAM_OF_H_
#define RECURSIVE_TF_CC_TF_TEAM_OF_H_

#include <functional>
#include <utility>

#include "recursive_tf/cc/blocks/team.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// Returns a team of the threads that TensorFlow has for the work of one op. The
// op must not be done before the team's last job is.
inline Team TeamOf(tensorflow::OpKernelContext* ctx,
                   Team::Schedule guests = nullptr) {
  const auto* threads = ctx->device()->tensorflow_cpu_worker_threads();
  return Team(
      threads->num_threads,
      [threads](std::function<void()> run) {
        threads->workers->Schedule(std::move(run));
      },
      std::move(guests));
}

// Returns the same for an op of few jobs. A thread that ran the op before it is
// often still awake and looks for work, on the core that a sleeping one would
// need: it is asked, too.
inline Team TeamOfShortOp(tensorflow::OpKernelContext* ctx) {
  return TeamOf(ctx, ctx->runner() == nullptr ? nullptr : *ctx->runner());
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_TEAM_OF_H_
