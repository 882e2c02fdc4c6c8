#ifndef RECURSIVE_TF_CC_TF_TEAM_OF_H_
#define RECURSIVE_TF_CC_TF_TEAM_OF_H_

#include <functional>
#include <memory>
#include <utility>

#include "recursive_tf/cc/blocks/hot_team.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// A team of the threads that TensorFlow has for the work of one op, for an op
// to lead. The op must not be done before this is gone.
class TeamOf {
 public:
  explicit TeamOf(tensorflow::OpKernelContext* ctx)
      : threads_(ctx->device()->tensorflow_cpu_worker_threads()),
        team_(HotTeam::Global().Take(threads_, threads_->num_threads)) {
    if (team_ != nullptr) return;
    const auto schedule = [threads = threads_](std::function<void()> run) {
      threads->workers->Schedule(std::move(run));
    };
    team_ = std::make_unique<Team>(threads_->num_threads, schedule);
  }
  ~TeamOf() { HotTeam::Global().Give(threads_, std::move(team_)); }
  TeamOf(const TeamOf&) = delete;
  TeamOf& operator=(const TeamOf&) = delete;

  Team& team() const { return *team_; }

 private:
  const tensorflow::DeviceBase::CpuWorkerThreads* const threads_;
  std::unique_ptr<Team> team_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_TEAM_OF_H_
