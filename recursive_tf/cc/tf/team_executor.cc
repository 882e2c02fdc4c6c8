#include "recursive_tf/cc/tf/team_executor.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "recursive_tf/cc/runtime/local_work.h"
#include "recursive_tf/cc/scheduling/levels.h"
#include "recursive_tf/cc/scheduling/teams.h"
#include "recursive_tf/cc/tf/scheduled_graph.h"
#include "recursive_tf/cc/tf/team_kernel.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "recursive_tf/cc/tf/team_threads.h"
#include "tensorflow/core/common_runtime/device.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/common_runtime/executor_factory.h"
#include "tensorflow/core/common_runtime/graph_constructor.h"
#include "tensorflow/core/common_runtime/local_executor_params.h"
#include "tensorflow/core/common_runtime/renamed_device.h"
#include "tensorflow/core/framework/node_properties.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/threadpool.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Runs that measure, before levels are known: enough that the first ones, whose
// memory is cold, do not move a median.
constexpr int64_t kMeasuredRuns = 8;
// What takes less than a thread needs to wake up stays where it became ready.
constexpr int64_t kWorthATeamNs = 10'000;
// What an operation waits for may run within it, so many levels deep.
constexpr int kNesting = 64;

// Times vary from run to run, so levels that hardly differ are equal: of these
// operations the one that was ready first comes first, because its inputs may
// still be in a cache.
constexpr int64_t kSteps = 32;
static_assert(kSteps < kMostLevels);

std::vector<int64_t> Rounded(std::vector<int64_t> levels) {
  int64_t longest = 1;
  for (const int64_t level : levels) longest = std::max(longest, level);
  for (int64_t& level : levels) level = level * kSteps / longest;
  return levels;
}

class TeamExecutor : public tf::Executor {
 public:
  static absl::Status Create(const TeamSchedule& schedule, bool is_in_calls,
                             const tf::LocalExecutorParams& params,
                             const tf::Graph& graph,
                             std::unique_ptr<tf::Executor>* executor) {
    auto created = absl::WrapUnique(
        new TeamExecutor(schedule, is_in_calls, params, graph));
    TF_RETURN_IF_ERROR(created->Build(&created->measuring_));
    ScheduledGraphs::Global().Add(created->measured_);
    *executor = std::move(created);
    return absl::OkStatus();
  }

  ~TeamExecutor() override {
    // They use the kernels.
    measuring_.reset();
    settled_.reset();
    for (const auto& [name, kernel] : kernels_) params_.delete_kernel(kernel);
  }

 private:
  using TeamKernels = std::vector<std::unique_ptr<TeamKernel>>;

  // One of TensorFlow's executors, with kernels of ours in its graph.
  struct Inner {
    TeamKernels team_kernels;
    std::unique_ptr<tf::Executor> executor;
  };

  TeamExecutor(const TeamSchedule& schedule, bool is_in_calls,
               const tf::LocalExecutorParams& params, const tf::Graph& graph)
      : schedule_(schedule),
        is_in_calls_(is_in_calls),
        params_(params),
        graph_(graph.flib_def()),
        teams_(TeamsOf(schedule)),
        threads_(schedule.num_threads, DevicePool()),
        device_(tf::RenamedDevice::NewRenamedDevice(
            params.device->name(), params.device, /*owns_underlying=*/false,
            /*isolate_session_state=*/false, &threads_)) {
    tf::CopyGraph(graph, &graph_);
    measured_ = std::make_shared<ScheduledGraph>(schedule.Name(), graph_);
    // The source among them: it has a kernel, too.
    for (const tf::Node* node : graph_.nodes()) {
      numbers_[node->name()] = node->id();
    }
    levels_.values.resize(graph_.num_node_ids());
    levels_.is_critical.resize(graph_.num_node_ids());
  }

  TeamThreads::Pool DevicePool() const {
    tf::thread::ThreadPool* pool =
        params_.device->tensorflow_cpu_worker_threads()->workers;
    return
        [pool](std::function<void()> work) { pool->Schedule(std::move(work)); };
  }

  void RunAsyncInternal(const Args& args, DoneCallback done) override {
    absl::StatusOr<Inner*> inner = Choose();
    if (!inner.ok()) return done(inner.status());
    Args ours = args;
    // What an operation makes ready stays on its thread, until a kernel of ours
    // hands it to the teams.
    ours.run_all_kernels_inline = true;
    ours.runner = [](std::function<void()> work) {
      LocalWork::Run(std::move(work), kNesting);
    };
    ours.user_intra_op_threadpool = nullptr;
    (*inner)->executor->RunAsync(
        ours, [measured = measured_.get(),
               done = std::move(done)](const absl::Status& status) {
          ++measured->num_runs;
          done(status);
        });
  }

  absl::StatusOr<Inner*> Choose() {
    if (ScheduledGraphs::Global().is_measured() ||
        measured_->num_runs < kMeasuredRuns) {
      return measuring_.get();
    }
    Inner* settled = known_.load(std::memory_order_acquire);
    if (settled != nullptr) return settled;
    const std::lock_guard<std::mutex> lock(mu_);
    if (settled_ == nullptr) TF_RETURN_IF_ERROR(Settle());
    known_.store(settled_.get(), std::memory_order_release);
    return settled_.get();
  }

  absl::Status Settle() {
    medians_ = measured_->MedianTimes();
    levels_ = LevelsOf(measured_->dependences, medians_);
    if (schedule_.critical_path_first) {
      levels_.values = Rounded(levels_.values);
    } else {
      levels_.values.assign(levels_.values.size(), 0);
    }
    return Build(&settled_);
  }

  absl::Status Build(std::unique_ptr<Inner>* built) {
    auto inner = std::make_unique<Inner>();
    tf::LocalExecutorParams params = params_;
    params.device = device_.get();
    params.create_kernel =
        [this, inner = inner.get()](
            const std::shared_ptr<const tf::NodeProperties>& node,
            tf::OpKernel** kernel) { return Give(node, inner, kernel); };
    params.delete_kernel = [](tf::OpKernel* /*kernel*/) {};
    tf::Executor* executor = nullptr;
    TF_RETURN_IF_ERROR(tf::NewLocalExecutor(params, graph_, &executor));
    inner->executor.reset(executor);
    *built = std::move(inner);
    return absl::OkStatus();
  }

  // Sets `*given` to the kernel of `node`, or to what stands for it. A kernel
  // is made once, since it may have state, e.g. of a generator of random
  // numbers.
  absl::Status Give(const std::shared_ptr<const tf::NodeProperties>& node,
                    Inner* inner, tf::OpKernel** given) {
    tf::OpKernel*& kernel = kernels_[node->node_def.name()];
    if (kernel == nullptr) {
      TF_RETURN_IF_ERROR(params_.create_kernel(node, &kernel));
    }
    const int number = numbers_.at(node->node_def.name());
    if (StaysWhereItIs(kernel, number)) {
      *given = kernel;
      return absl::OkStatus();
    }
    const TeamWork work{kernel, &measured_->times[number],
                        levels_.values[number], levels_.is_critical[number],
                        is_in_calls_};
    Teams* const teams = OnlyComputes(kernel) ? teams_ : nullptr;
    std::unique_ptr<TeamKernel> team_kernel;
    TF_RETURN_IF_ERROR(
        TeamKernel::Create(node, teams, work, params_.device, &team_kernel));
    *given = team_kernel.get();
    inner->team_kernels.push_back(std::move(team_kernel));
    return absl::OkStatus();
  }

  // Says whether a kernel runs on the thread that makes it ready.
  bool StaysWhereItIs(tf::OpKernel* kernel, int number) const {
    if (kernel->AsAsync() != nullptr || !kernel->IsExpensive()) return true;
    return OnlyComputes(kernel) && !medians_.empty() &&
           medians_[number] < kWorthATeamNs;
  }

  const TeamSchedule schedule_;
  const bool is_in_calls_;
  const tf::LocalExecutorParams params_;
  tf::Graph graph_;
  Teams* const teams_;
  TeamThreads threads_;
  // The device with the threads of teams.
  const std::unique_ptr<tf::Device> device_;
  std::shared_ptr<ScheduledGraph> measured_;
  // By the names of nodes.
  std::unordered_map<std::string, int> numbers_;
  std::unordered_map<std::string, tf::OpKernel*> kernels_;
  Levels levels_;
  // Of each operation, once they are known.
  std::vector<int64_t> medians_;
  // With all operations that may be on teams, and with those that are worth it.
  std::unique_ptr<Inner> measuring_;
  std::mutex mu_;
  std::unique_ptr<Inner> settled_;
  // Null until it is there.
  std::atomic<Inner*> known_{nullptr};
};

class TeamExecutorFactory : public tf::ExecutorFactory {
 public:
  explicit TeamExecutorFactory(const TeamSchedule& schedule)
      : schedule_(schedule) {}

  absl::Status NewExecutor(const tf::LocalExecutorParams& params,
                           const tf::Graph& graph,
                           std::unique_ptr<tf::Executor>* executor) override {
    return NewTeamExecutor(schedule_, /*is_in_calls=*/false, params, graph,
                           executor);
  }

 private:
  const TeamSchedule schedule_;
};

}  // namespace

absl::Status NewTeamExecutor(const TeamSchedule& schedule, bool is_in_calls,
                             const tf::LocalExecutorParams& params,
                             const tf::Graph& graph,
                             std::unique_ptr<tf::Executor>* executor) {
  return TeamExecutor::Create(schedule, is_in_calls, params, graph, executor);
}

void RegisterTeamExecutor(const TeamSchedule& schedule) {
  tf::ExecutorFactory* found = nullptr;
  if (tf::ExecutorFactory::GetFactory(schedule.Name(), &found).ok()) return;
  tf::ExecutorFactory::Register(schedule.Name(),
                                new TeamExecutorFactory(schedule));
}

}  // namespace recursive_tf
