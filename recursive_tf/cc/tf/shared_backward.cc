#include "recursive_tf/cc/tf/shared_backward.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/tf/backward_run.h"
#include "recursive_tf/cc/tf/call.h"
#include "recursive_tf/cc/tf/call_statuses.h"
#include "recursive_tf/cc/tf/handles.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

using Done = std::function<void(const absl::Status&)>;

// An invocation whose gradient is to run, and the gradients of its results.
struct Reached {
  const Activation* activation;
  std::vector<tf::Tensor> gradients;
};

std::vector<Reached> TakeReached(
    const std::vector<const Activation*>& activations, BackwardRun* run) {
  std::vector<Reached> reached;
  for (const Activation* activation : activations) {
    std::optional<std::vector<tf::Tensor>> gradients =
        run->shared.Take(activation);
    if (gradients.has_value()) {
      reached.push_back({activation, *std::move(gradients)});
    }
  }
  return reached;
}

// Runs those that stand before `end` in the order of heights.
void RunBelow(size_t end, const std::shared_ptr<BackwardRun>& run, Done done) {
  const std::vector<std::vector<const Activation*>>& heights =
      run->forward->shared;
  std::vector<Reached> reached;
  while (end > 0 && reached.empty()) {
    reached = TakeReached(heights[--end], run.get());
  }
  if (reached.empty()) {
    done(absl::OkStatus());
    return;
  }
  // Of those of one height.
  auto statuses = std::make_shared<CallStatuses>(reached.size());
  const RowCall::Done end_one = [end, run, statuses, done = std::move(done)](
                                    size_t index, const absl::Status& status,
                                    const std::vector<tf::Tensor>&) {
    if (!statuses->End(index, status)) return;
    // An error first: calls that may not run any more end at once, one within
    // the other, as deep as there are heights.
    if (const absl::Status told = statuses->First(); !told.ok()) {
      done(told);
    } else {
      RunBelow(end, run, done);
    }
  };
  for (size_t i = 0; i < reached.size(); ++i) {
    GradientHandle handle;
    handle.run = run.get();
    handle.activation = reached[i].activation;
    run->program.Start(new RowCall(&run->program, reached[i].activation,
                                   /*tree=*/nullptr, HandleTensor(handle), i,
                                   std::move(reached[i].gradients), end_one));
  }
}

}  // namespace

void RunSharedGradients(const std::shared_ptr<BackwardRun>& run,
                        const absl::Status& status, Done done) {
  if (!status.ok()) {
    done(status);
  } else {
    RunBelow(run->forward->shared.size(), run, std::move(done));
  }
}

}  // namespace recursive_tf
