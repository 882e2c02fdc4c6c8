// Policies are learned by trials on recorded runs.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/batching/learned_tables.h"
#include "recursive_tf/cc/batching/policies.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/policy_table.h"
#include "recursive_tf/cc/batching/q_learning.h"
#include "recursive_tf/cc/batching/recording.h"
#include "recursive_tf/cc/batching/rehearsal.h"
#include "recursive_tf/cc/batching/sufficient_policy.h"
#include "recursive_tf/cc/kernels/launch_graph_tensors.h"
#include "recursive_tf/cc/kernels/vectors.h"
#include "recursive_tf/cc/tf/handles.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

absl::Status NoPolicy(const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat("There is no policy '", text, "'."));
}

// An op whose kernel may run out of memory.
class PolicyKernel : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) final {
    ctx->SetStatus(CatchExceptions([&] { return TryCompute(ctx); }));
  }

 protected:
  virtual absl::Status TryCompute(tf::OpKernelContext* ctx) = 0;
};

class RecordOp : public PolicyKernel {
 public:
  using PolicyKernel::PolicyKernel;

 protected:
  absl::Status TryCompute(tf::OpKernelContext* ctx) override {
    bool start = false;
    TF_RETURN_IF_ERROR(GetScalar<bool>(ctx, 0, &start));
    std::vector<RecordedRun> runs;
    if (start) {
      Recording::Global().Start();
    } else {
      runs = Recording::Global().Stop();
    }
    SetRecordedRuns(runs, ctx);
    return absl::OkStatus();
  }
};

// Returns null if there is no such policy. The sufficient condition sees the
// whole graph, so it is one of rehearsals alone.
std::unique_ptr<const Policy> PolicyOf(const std::string& text,
                                       const Rehearsal& rehearsal) {
  if (text == "sufficient") {
    return std::make_unique<SufficientPolicy>(&rehearsal.order(),
                                              &rehearsal.sub_frontiers());
  }
  return MakePolicy(text, &rehearsal.order());
}

class RehearseOp : public PolicyKernel {
 public:
  using PolicyKernel::PolicyKernel;

 protected:
  absl::Status TryCompute(tf::OpKernelContext* ctx) override {
    std::vector<LaunchGraph> graphs;
    TF_RETURN_IF_ERROR(GetLaunchGraphs(ctx, &graphs));
    std::string text;
    TF_RETURN_IF_ERROR(GetScalar<tf::tstring>(ctx, kNumGraphInputs, &text));
    std::vector<int64_t> num_launches;
    std::vector<int32_t> launched;
    std::vector<int32_t> waiting;
    for (const LaunchGraph& graph : graphs) {
      Rehearsal rehearsal(&graph);
      const auto policy = PolicyOf(text, rehearsal);
      if (policy == nullptr) return NoPolicy(text);
      num_launches.push_back(0);
      while (!rehearsal.is_done()) {
        const Frontier& frontier = rehearsal.frontier();
        for (int32_t block = 0; block < frontier.num_blocks(); ++block) {
          waiting.push_back(static_cast<int32_t>(frontier.count(block)));
        }
        const Choice choice = policy->Choose(frontier);
        launched.push_back(choice.block);
        rehearsal.Launch(choice);
        ++num_launches.back();
      }
    }
    ctx->set_output(0, VectorOf(num_launches));
    ctx->set_output(1, VectorOf(launched));
    tf::Tensor counts(tf::DT_INT32, {static_cast<int64_t>(launched.size()),
                                     ctx->input(0).NumElements()});
    std::copy(waiting.begin(), waiting.end(), counts.flat<int32_t>().data());
    ctx->set_output(2, counts);
    return absl::OkStatus();
  }
};

// What an op hands to another: graphs, and what was learned from them so far.
//
// Thread safety: every method may be called from any thread.
class Learner {
 public:
  Learner(std::vector<LaunchGraph> graphs, const LearningSettings& settings)
      : graphs_(std::move(graphs)), learning_(&graphs_, settings) {}

  int64_t LeastLaunches() const {
    MutexLock lock(&mu_);
    return learning_.LeastLaunches();
  }

  PolicyTable Try(int64_t num_trials, int64_t* launches) {
    MutexLock lock(&mu_);
    for (int64_t i = 0; i < num_trials; ++i) learning_.Try();
    PolicyTable table = learning_.Table();
    *launches = learning_.Launches(table);
    return table;
  }

 private:
  const std::vector<LaunchGraph> graphs_;
  mutable Mutex mu_;
  QLearning learning_ ABSL_GUARDED_BY(mu_);
};

struct LearnerHandle : UnserializableVariant {
  std::shared_ptr<Learner> learner;

  std::string TypeName() const { return "recursive_tf::LearnerHandle"; }
};

class PolicyLearnerOp : public PolicyKernel {
 public:
  explicit PolicyLearnerOp(tf::OpKernelConstruction* ctx) : PolicyKernel(ctx) {
    std::string encoding;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("encoding", &encoding));
    const std::optional<Encoding> known = EncodingOf(encoding);
    OP_REQUIRES(ctx, known.has_value(),
                absl::InvalidArgumentError(
                    absl::StrCat("There is no encoding '", encoding, "'.")));
    encoding_ = *known;
  }

 protected:
  absl::Status TryCompute(tf::OpKernelContext* ctx) override {
    std::vector<LaunchGraph> graphs;
    TF_RETURN_IF_ERROR(GetLaunchGraphs(ctx, &graphs));
    LearningSettings settings;
    settings.encoding = encoding_;
    TF_RETURN_IF_ERROR(
        GetScalar<int64_t>(ctx, kNumGraphInputs, &settings.seed));
    LearnerHandle handle;
    handle.learner = std::make_shared<Learner>(std::move(graphs), settings);
    ctx->set_output(1, ScalarOf(handle.learner->LeastLaunches()));
    ctx->set_output(0, HandleTensor(std::move(handle)));
    return absl::OkStatus();
  }

 private:
  Encoding encoding_ = Encoding::kSort;
};

class PolicyTrialsOp : public PolicyKernel {
 public:
  using PolicyKernel::PolicyKernel;

 protected:
  absl::Status TryCompute(tf::OpKernelContext* ctx) override {
    const LearnerHandle* handle = nullptr;
    TF_RETURN_IF_ERROR(GetHandle(ctx, 0, &handle));
    int64_t num_trials = 0;
    TF_RETURN_IF_ERROR(GetScalar<int64_t>(ctx, 1, &num_trials));
    int64_t launches = 0;
    const PolicyTable table = handle->learner->Try(num_trials, &launches);
    ctx->set_output(0, ScalarOf(tf::tstring(ToText(table))));
    ctx->set_output(1, ScalarOf(launches));
    return absl::OkStatus();
  }
};

class LearnedOp : public PolicyKernel {
 public:
  using PolicyKernel::PolicyKernel;

 protected:
  absl::Status TryCompute(tf::OpKernelContext* ctx) override {
    std::vector<tf::tstring> places;
    TF_RETURN_IF_ERROR(GetVector(ctx, 0, &places));
    std::string text;
    TF_RETURN_IF_ERROR(GetScalar<tf::tstring>(ctx, 1, &text));
    std::optional<PolicyTable> table = TableFromText(text);
    if (!table.has_value()) return NoPolicy(text);
    LearnedTables::Global()
        .Of({places.begin(), places.end()})
        ->Set(*std::move(table));
    return absl::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursiveRecord").Device(tf::DEVICE_CPU),
                        RecordOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveRehearse").Device(tf::DEVICE_CPU),
                        RehearseOp);
REGISTER_KERNEL_BUILDER(Name("RecursivePolicyLearner").Device(tf::DEVICE_CPU),
                        PolicyLearnerOp);
REGISTER_KERNEL_BUILDER(Name("RecursivePolicyTrials").Device(tf::DEVICE_CPU),
                        PolicyTrialsOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveLearned").Device(tf::DEVICE_CPU),
                        LearnedOp);

}  // namespace
}  // namespace recursive_tf
