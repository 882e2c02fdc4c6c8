#include "recursive_tf/cc/tf/inline_function.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/runtime/helped_work.h"
#include "recursive_tf/cc/tf/frame_ops.h"
#include "recursive_tf/cc/tf/make_executor.h"
#include "recursive_tf/cc/tf/procedure_graph.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/cpu_info.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Hands each input over once: the one op that takes it may then write to it.
class Frame : public tf::CallFrameInterface {
 public:
  Frame(std::vector<tf::Tensor> inputs, std::vector<tf::Tensor>* outputs)
      : inputs_(std::move(inputs)), outputs_(*outputs) {}

  size_t num_args() const override { return inputs_.size(); }
  size_t num_retvals() const override { return outputs_.size(); }

  absl::Status GetArg(int index, const tf::Tensor** value) override {
    *value = &inputs_[index];
    return absl::OkStatus();
  }
  bool CanConsumeArg(int /*index*/) const override { return true; }
  void ConsumeArg(int index, tf::Tensor* value) override {
    *value = std::move(inputs_[index]);
  }

  absl::Status SetRetval(int index, const tf::Tensor& value) override {
    outputs_[index] = value;
    return absl::OkStatus();
  }

 private:
  std::vector<tf::Tensor> inputs_;
  std::vector<tf::Tensor>& outputs_;
};

// Takes the outputs out of a graph that are inputs as they are.
absl::Status TakeHandedOn(tf::Graph* graph,
                          std::vector<InlineFunction::HandedOn>* handed_on) {
  std::vector<tf::Node*> outputs;
  for (tf::Node* const node : graph->op_nodes()) {
    if (node->IsRetval()) outputs.push_back(node);
  }
  for (tf::Node* const node : outputs) {
    const tf::Edge* edge = nullptr;
    TF_RETURN_IF_ERROR(node->input_edge(0, &edge));
    tf::Node* const source = edge->src();
    if (!source->IsArg()) continue;
    InlineFunction::HandedOn& found = handed_on->emplace_back();
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(source->attrs(), "index", &found.input));
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(node->attrs(), "index", &found.output));
    graph->RemoveNode(node);
  }
  std::vector<tf::Node*> unread;
  for (tf::Node* const node : graph->op_nodes()) {
    const auto is_data = [](const tf::Edge* edge) {
      return !edge->IsControlEdge();
    };
    if (node->IsArg() && absl::c_none_of(node->out_edges(), is_data)) {
      unread.push_back(node);
    }
  }
  for (tf::Node* const node : unread) graph->RemoveNode(node);
  return absl::OkStatus();
}

// Help costs some microseconds for each op, and a run that is helped takes
// less.
constexpr std::chrono::microseconds kLong{500};
constexpr std::chrono::microseconds kLongIfHelped{200};

absl::Status RunAlone(tf::Executor* executor, tf::Executor::Args step) {
  step.run_all_kernels_inline = true;
  step.runner = [](const std::function<void()>& work) { work(); };
  return executor->Run(step);
}

// Returns how many processors there are beside that of the thread.
int MostHelpers() { return tf::port::NumSchedulableCPUs() - 1; }

absl::Status RunHelped(tf::Executor* executor, tf::Executor::Args step) {
  const std::shared_ptr<HelpedWork> work =
      HelpedWork::With(std::move(step.runner), MostHelpers());
  step.runner = [work](std::function<void()> piece) {
    work->Add(std::move(piece));
  };
  absl::Status found;
  executor->RunAsync(step, [&found, work](const absl::Status& status) {
    found = status;
    work->End();
  });
  work->WorkUntilEnd();
  return found;
}

}  // namespace

absl::Status InlineFunction::Create(const std::string& name,
                                    tf::FunctionLibraryRuntime* runtime,
                                    tf::FunctionLibraryDefinition* library,
                                    const GraphEdit& edit,
                                    const std::optional<TeamSchedule>& schedule,
                                    std::unique_ptr<InlineFunction>* function) {
  std::unique_ptr<tf::Graph> graph;
  TF_RETURN_IF_ERROR(BuildProcedureGraph(name, runtime, library, &graph, edit));
  std::vector<HandedOn> handed_on;
  TF_RETURN_IF_ERROR(TakeHandedOn(graph.get(), &handed_on));
  TF_RETURN_IF_ERROR(JoinFrameOps(graph.get()));
  std::unique_ptr<tf::Executor> executor;
  if (graph->num_op_nodes() > 0) {
    TF_RETURN_IF_ERROR(MakeExecutor(
        *graph, runtime, [](tf::OpKernel*) {}, schedule, /*is_in_calls=*/false,
        &executor));
  }
  const tf::OpDef& signature = library->Find(name)->signature();
  *function = absl::WrapUnique(new InlineFunction(
      std::move(executor), std::move(handed_on), signature.input_arg_size(),
      signature.output_arg_size(), /*may_be_helped=*/!schedule.has_value()));
  return absl::OkStatus();
}

absl::Status InlineFunction::Run(tf::Executor::Args step,
                                 std::vector<tf::Tensor> inputs,
                                 std::vector<tf::Tensor>* outputs) const {
  if (inputs.size() != static_cast<size_t>(num_inputs_)) {
    return absl::InternalError(absl::StrCat("a function of ", num_inputs_,
                                            " inputs got ", inputs.size()));
  }
  outputs->assign(num_outputs_, tf::Tensor());
  for (const HandedOn& each : handed_on_) {
    (*outputs)[each.output] = inputs[each.input];
  }
  if (executor_ == nullptr) return absl::OkStatus();
  Frame frame(std::move(inputs), outputs);
  step.call_frame = &frame;
  return RunOps(std::move(step));
}

absl::Status InlineFunction::RunOps(tf::Executor::Args step) const {
  const bool is_helped = may_be_helped_ &&
                         is_long_.load(std::memory_order_relaxed) &&
                         step.runner != nullptr && MostHelpers() > 0;
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status =
      (is_helped ? RunHelped : RunAlone)(executor_.get(), std::move(step));
  is_long_.store(std::chrono::steady_clock::now() - start >
                     (is_helped ? kLongIfHelped : kLong),
                 std::memory_order_relaxed);
  return status;
}

}  // namespace recursive_tf
