#include "recursive_tf/cc/tf/team_kernel.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "recursive_tf/cc/runtime/local_work.h"
#include "recursive_tf/cc/runtime/trace_log.h"
#include "recursive_tf/cc/scheduling/teams.h"
#include "recursive_tf/cc/tf/deep_frame.h"
#include "recursive_tf/cc/tf/own_ops.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/memory_types.h"
#include "tensorflow/core/framework/node_properties.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/public/version.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Returns whether ops of `type`, which are stateful, wait for nothing: they
// change the variables that they take, draw random numbers, or look at values;
// and what is ours, but for root calls.
bool NeverWaits(const std::string& type) {
  if (IsOwnOp(type)) return !absl::StartsWith(type, "RecursiveInvoke");
  if (type == "ReadVariableOp" || type == "VarHandleOp" || type == "Assert" ||
      type == "Multinomial" || type == "TruncatedNormal") {
    return true;
  }
  for (const char* prefix :
       {"Assign", "ResourceApply", "ResourceGather", "ResourceScatter",
        "ResourceSparseApply", "RandomGamma", "RandomPoisson", "RandomStandard",
        "RandomUniform", "Stateful"}) {
    if (absl::StartsWith(type, prefix)) return true;
  }
  return false;
}

// The one whose kernel computes on this thread.
thread_local const tf::OpKernel* computing = nullptr;

class Computing {
 public:
  explicit Computing(const tf::OpKernel* kernel)
      : before_(std::exchange(computing, kernel)) {}
  ~Computing() { computing = before_; }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

 private:
  const tf::OpKernel* const before_;
};

bool CallsFunctions(const tf::NodeDef& node) {
  for (const auto& [name, value] : node.attr()) {
    if (value.has_func() || value.list().func_size() > 0) return true;
  }
  return false;
}

}  // namespace

absl::Status TeamKernel::Create(
    const std::shared_ptr<const tf::NodeProperties>& node, Teams* teams,
    const TeamWork& work, tf::DeviceBase* device,
    std::unique_ptr<TeamKernel>* kernel) {
  absl::Status status;
  tf::OpKernelConstruction construction(
      tf::DeviceType(tf::DEVICE_CPU), device,
      device->GetAllocator(tf::AllocatorAttributes()),
      /*flib=*/nullptr, /*resource_mgr=*/nullptr, node,
      work.kernel->input_memory_types(), work.kernel->output_memory_types(),
      TF_GRAPH_DEF_VERSION, &status);
  *kernel = absl::WrapUnique(new TeamKernel(&construction, teams, work));
  return status;
}

void TeamKernel::ComputeAsync(tf::OpKernelContext* ctx, DoneCallback done) {
  auto work = [this, ctx, done = std::move(done)] {
    // What the executor does next stays on this thread.
    LocalWork::Run([&] {
      Run(ctx);
      done();
    });
  };
  if (teams_ == nullptr) {
    ctx->env()->SchedClosure(std::move(work));
  } else {
    teams_->Submit(LevelIn(ctx), std::move(work));
  }
}

tf::AsyncOpKernel* TeamKernel::AsAsync() {
  return computing == this ? nullptr : this;
}

// What is deepest has the farthest to go; and to go on with it first keeps few
// calls in flight.
int64_t TeamKernel::LevelIn(tf::OpKernelContext* ctx) const {
  if (!work_.is_in_calls) return work_.level;
  const auto* frame = static_cast<const DeepFrame*>(ctx->call_frame());
  return kMostLevels * frame->depth() + work_.level;
}

void TeamKernel::Run(tf::OpKernelContext* ctx) const {
  const auto start = std::chrono::steady_clock::now();
  {
    const TraceSpan span(
        name(),
        work_.is_critical ? "operation on the critical path" : "operation",
        /*num_rows=*/1, Teams::TeamOfThread());
    const Computing scope(this);
    work_.kernel->Compute(ctx);
  }
  work_.times->Add(std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::steady_clock::now() - start)
                       .count());
}

bool OnlyComputes(tf::OpKernel* kernel) {
  if (CallsFunctions(kernel->def())) return false;
  const std::string& type = kernel->type_string();
  const tf::OpDef* op = nullptr;
  if (!tf::OpRegistry::Global()->LookUpOpDef(type, &op).ok()) return false;
  return !op->is_stateful() || NeverWaits(type);
}

}  // namespace recursive_tf
