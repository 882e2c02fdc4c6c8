#ifndef RECURSIVE_TF_CC_TF_FUNCTION_ON_DEMAND_H_
#define RECURSIVE_TF_CC_TF_FUNCTION_ON_DEMAND_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/tf/inline_function.h"
#include "recursive_tf/cc/tf/procedure_graph.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "tensorflow/core/framework/function.h"

namespace recursive_tf {

// A function that is made ready to run when it is first wanted: to rewrite its
// graph and to make its kernels takes some milliseconds, and most blocks run as
// block programs.
//
// Thread safety: Get may be called from any thread; who comes second waits.
class FunctionOnDemand {
 public:
  // `runtime` and `library` must outlive this. The rest is as of
  // InlineFunction.
  FunctionOnDemand(std::string name,
                   tensorflow::FunctionLibraryRuntime* runtime,
                   tensorflow::FunctionLibraryDefinition* library,
                   const std::optional<TeamSchedule>& schedule,
                   GraphEdit edit = nullptr)
      : name_(std::move(name)),
        schedule_(schedule),
        runtime_(runtime),
        library_(library),
        edit_(std::move(edit)) {}

  // Sets `*function`, which lives as long as this.
  absl::Status Get(const InlineFunction** function) const {
    const MutexLock lock(&mu_);
    if (made_ == nullptr) {
      const absl::Status status = InlineFunction::Create(
          name_, runtime_, library_, edit_, schedule_, &made_);
      if (!status.ok()) return status;
    }
    *function = made_.get();
    return absl::OkStatus();
  }

 private:
  const std::string name_;
  const std::optional<TeamSchedule> schedule_;
  tensorflow::FunctionLibraryRuntime* const runtime_;
  tensorflow::FunctionLibraryDefinition* const library_;
  const GraphEdit edit_;
  mutable Mutex mu_;
  mutable std::unique_ptr<InlineFunction> made_ ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_FUNCTION_ON_DEMAND_H_
