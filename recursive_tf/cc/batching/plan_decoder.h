#ifndef RECURSIVE_TF_CC_BATCHING_PLAN_DECODER_H_
#define RECURSIVE_TF_CC_BATCHING_PLAN_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// Reads a plan from the numbers that recursive_tf/python/batching/encoding.py
// wrote, perhaps in another process and another version of the library. A plan
// that is read can be run: whatever it names is there.
class PlanDecoder {
 public:
  // The first number of an encoded plan.
  static constexpr int64_t kVersion = 1;

  // `code` must outlive this.
  explicit PlanDecoder(const std::vector<int64_t>* code) : code_(*code) {}

  // Returns whether `*plan` was read; if not, error() says why.
  bool Decode(Plan* plan) {
    const int64_t version = Number();
    if (version != kVersion) {
      error_ = "The plan has version " + std::to_string(version) +
               ", but this version of recursive_tf reads version " +
               std::to_string(kVersion) +
               ". Trace or save the model again with the version that runs it.";
      return false;
    }
    plan->num_prologue_outputs = Count();
    plan->num_blocks = Count();
    plan->procedures.resize(Count());
    for (PlannedProcedure& procedure : plan->procedures) {
      Read(&procedure);
    }
    if (error_.empty() && next_ != code_.size()) Fail("goes on after its end");
    if (error_.empty()) Check(*plan);
    return error_.empty();
  }

  const std::string& error() const { return error_; }

 private:
  int64_t Number() {
    if (next_ < code_.size()) return code_[next_++];
    Fail("ends too early");
    return 0;
  }

  // A number of things that follow: at most as many as there are numbers left.
  int32_t Count() {
    const int64_t count = Number();
    const auto left = static_cast<int64_t>(code_.size());
    if (count >= 0 && count <= left) return static_cast<int32_t>(count);
    Fail("counts " + std::to_string(count) + " of something");
    return 0;
  }

  int32_t Index() {
    const int64_t index = Number();
    if (index == static_cast<int32_t>(index)) {
      return static_cast<int32_t>(index);
    }
    Fail("says " + std::to_string(index) + " where no number is so large");
    return 0;
  }
  Source ReadSource() { return Source{Index()}; }

  std::vector<Source> ReadSources() {
    std::vector<Source> sources(Count());
    for (Source& source : sources) source = ReadSource();
    return sources;
  }

  void Read(PlannedProcedure* procedure) {
    procedure->is_branch = Number() != 0;
    procedure->num_arguments = Count();
    procedure->num_slots = Index();
    procedure->outputs = ReadSources();
    procedure->stages.resize(Count());
    for (Stage& stage : procedure->stages) Read(&stage);
  }

  void Read(Stage* stage) {
    stage->block = Index();
    stage->inputs = ReadSources();
    stage->first_output = Index();
    stage->num_outputs = Count();
    stage->pushes.resize(Count());
    for (PlannedPush& push : stage->pushes) {
      push.table = Index();
      push.index = ReadSource();
      push.value = ReadSource();
    }
    stage->calls.resize(Count());
    for (CallSite& call : stage->calls) Read(&call);
  }

  void Read(CallSite* call) {
    call->site = Index();
    const bool has_selector = Number() != 0;
    const Source selector = ReadSource();
    if (has_selector) call->selector = selector;
    call->first_result = Index();
    call->branches.resize(Count());
    for (Branch& branch : call->branches) {
      branch.procedure = Index();
      branch.arguments = ReadSources();
    }
  }

  void Check(const Plan& plan) {
    if (plan.procedures.empty()) return Fail("has no procedures");
    std::set<int32_t> blocks;
    for (const PlannedProcedure& procedure : plan.procedures) {
      Check(procedure, plan);
      for (const Stage& stage : procedure.stages) {
        if (stage.block == kNoBlock) continue;
        if (!blocks.insert(stage.block).second) Fail("runs a block twice");
      }
    }
    if (error_.empty()) CheckBranches(plan);
  }

  // Only a call of a SubGraph may close a cycle: it is what limits count.
  void CheckBranches(const Plan& plan) {
    if (plan.procedures.front().is_branch) Fail("begins with a branch");
    std::set<int32_t> taken;
    for (const Branch& branch : BranchesOf(plan)) {
      if (plan.procedures[branch.procedure].is_branch &&
          !taken.insert(branch.procedure).second) {
        Fail("takes a branch in two places");
      }
    }
  }

  static std::vector<Branch> BranchesOf(const Plan& plan) {
    std::vector<Branch> all;
    for (const PlannedProcedure& procedure : plan.procedures) {
      for (const Stage& stage : procedure.stages) {
        for (const CallSite& call : stage.calls) {
          all.insert(all.end(), call.branches.begin(), call.branches.end());
        }
      }
    }
    return all;
  }

  // Follows a procedure, to see that it reads only what it has by then.
  void Check(const PlannedProcedure& procedure, const Plan& plan) {
    if (procedure.num_slots < procedure.num_arguments ||
        procedure.num_slots > static_cast<int64_t>(code_.size())) {
      return Fail("has a wrong number of slots");
    }
    is_filled_.assign(procedure.num_slots, false);
    Fill(0, procedure.num_arguments);
    for (const Stage& stage : procedure.stages) Check(stage, plan);
    Check(procedure.outputs, plan);
  }

  void Check(const Stage& stage, const Plan& plan) {
    if (stage.block < kNoBlock || stage.block >= plan.num_blocks) {
      Fail("names a block that is not there");
    }
    if (stage.block == kNoBlock && stage.num_outputs > 0) {
      Fail("has outputs of no block");
    }
    Check(stage.inputs, plan);
    Fill(stage.first_output, stage.num_outputs);
    for (const PlannedPush& push : stage.pushes) {
      // A plan has more numbers than tables.
      if (push.table < 0 || push.table >= static_cast<int64_t>(code_.size())) {
        Fail("names a table that is not there");
      }
      Check({push.index, push.value}, plan);
    }
    for (const CallSite& call : stage.calls) Check(call, plan);
    for (const CallSite& call : stage.calls) {
      if (error_.empty()) Fill(call.first_result, NumResults(call, plan));
    }
  }

  void Check(const CallSite& call, const Plan& plan) {
    if (call.selector.has_value()) Check({*call.selector}, plan);
    if (call.branches.empty()) return Fail("has a call of nothing");
    for (const Branch& branch : call.branches) {
      if (branch.procedure < 0 ||
          branch.procedure >= static_cast<int32_t>(plan.procedures.size())) {
        return Fail("names a procedure that is not there");
      }
      const PlannedProcedure& callee = plan.procedures[branch.procedure];
      if (static_cast<size_t>(callee.num_arguments) !=
          branch.arguments.size()) {
        Fail("calls a procedure with other arguments than it takes");
      }
      if (static_cast<int64_t>(callee.outputs.size()) !=
          NumResults(call, plan)) {
        Fail("has branches with unlike results");
      }
      Check(branch.arguments, plan);
    }
  }

  static int64_t NumResults(const CallSite& call, const Plan& plan) {
    const int32_t first = call.branches.front().procedure;
    return static_cast<int64_t>(plan.procedures[first].outputs.size());
  }

  void Check(const std::vector<Source>& sources, const Plan& plan) {
    for (const Source& source : sources) {
      const bool is_there =
          source.of_prologue()
              ? source.prologue_output() < plan.num_prologue_outputs
              : source.slot < static_cast<int64_t>(is_filled_.size()) &&
                    is_filled_[source.slot];
      if (!is_there) Fail("reads a value that is not there");
    }
  }

  void Fill(int64_t first, int64_t count) {
    if (count == 0) return;
    if (first < 0 || first + count > static_cast<int64_t>(is_filled_.size())) {
      return Fail("puts a value where no slot is");
    }
    for (int64_t slot = first; slot < first + count; ++slot) {
      if (is_filled_[slot]) Fail("puts two values into one slot");
      is_filled_[slot] = true;
    }
  }

  void Fail(const std::string& what) {
    if (error_.empty()) error_ = "The plan is damaged: it " + what + ".";
  }

  const std::vector<int64_t>& code_;
  size_t next_ = 0;
  // Of the procedure that is checked.
  std::vector<bool> is_filled_;
  std::string error_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_PLAN_DECODER_H_
