#ifndef RECURSIVE_TF_CC_BATCHING_PASS_THROUGH_H_
#define RECURSIVE_TF_CC_BATCHING_PASS_THROUGH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// Procedures that do nothing themselves, so that no activation of theirs is
// needed: who calls one does in its place what it would do.
class PassThrough {
 public:
  enum class Kind : uint8_t {
    kNone,
    // A front, which asks for what has the key that is one of its arguments.
    // The caller asks. If nobody runs that, it enters what is shared at once.
    kAsks,
    // A branch that makes one call, and returns its results.
    kCalls,
    // A branch that returns what it was given, or what the prologue computes.
    kReturns,
  };

  struct Procedure {
    Kind kind = Kind::kNone;
    // Of kAsks: what is shared, and which argument is the key.
    const Branch* body = nullptr;
    int32_t key_argument = 0;
    // Of kCalls: the call, with what it takes found in who takes the branch.
    const CallSite* call = nullptr;
    Branch callee;
    // Of kReturns: the results, found there.
    std::vector<Source> results;
  };

  // `plan` must outlive this.
  explicit PassThrough(const Plan& plan) : procedures_(plan.procedures.size()) {
    for (size_t i = 0; i < procedures_.size(); ++i) {
      FindFront(plan, plan.procedures[i], &procedures_[i]);
    }
    std::vector<int32_t> num_takers(procedures_.size(), 0);
    ForEachBranch(plan, [&](const Branch& taken, const CallSite& /*call*/) {
      ++num_takers[taken.procedure];
    });
    ForEachBranch(plan, [&](const Branch& taken, const CallSite& call) {
      const PlannedProcedure& branch = plan.procedures[taken.procedure];
      if (!branch.is_branch || num_takers[taken.procedure] != 1) return;
      if (branch.goes_on.has_value() || call.num_mapped > 0) return;
      if (call.key.has_value()) return;
      FindBranch(plan, branch, taken, &procedures_[taken.procedure]);
    });
    FindRootCall(plan);
  }

  // Returns the call that is made for each row of the root call, which has the
  // arguments in its first slots: that of the first procedure or, if this does
  // nothing but to call, what it calls.
  const CallSite& root_call() const { return root_call_; }

  bool Has(int32_t procedure) const {
    return procedures_[procedure].kind != Kind::kNone;
  }
  const Procedure& operator[](int32_t procedure) const {
    return procedures_[procedure];
  }

 private:
  template <typename See>
  static void ForEachBranch(const Plan& plan, const See& see) {
    for (const PlannedProcedure& procedure : plan.procedures) {
      for (const Stage& stage : procedure.stages) {
        for (const CallSite& call : stage.calls) {
          for (const Branch& branch : call.branches) see(branch, call);
        }
      }
    }
  }

  // Returns the one call of a procedure that does nothing but to make it, or
  // null.
  static const CallSite* OnlyCall(const PlannedProcedure& procedure) {
    if (procedure.stages.size() != 1) return nullptr;
    const Stage& stage = procedure.stages.front();
    if (stage.block != kNoBlock || !stage.pushes.empty()) return nullptr;
    return stage.calls.size() == 1 ? &stage.calls.front() : nullptr;
  }

  // Returns whether a procedure returns all results of a call in it, in order.
  static bool ReturnsAll(const Plan& plan, const PlannedProcedure& procedure,
                         const CallSite& call) {
    const PlannedProcedure& callee =
        plan.procedures[call.branches.front().procedure];
    if (callee.outputs.size() != procedure.outputs.size()) return false;
    for (size_t i = 0; i < procedure.outputs.size(); ++i) {
      const auto result = call.first_result + static_cast<int32_t>(i);
      if (procedure.outputs[i].slot != result) return false;
    }
    return true;
  }

  static bool IsPlain(const CallSite& call) {
    return !call.selector.has_value() && call.num_mapped == 0 &&
           !call.key.has_value();
  }

  void FindRootCall(const Plan& plan) {
    const PlannedProcedure& root = plan.procedures[kRootProcedure];
    const CallSite* const call = OnlyCall(root);
    if (call != nullptr && IsPlain(*call)) {
      const int32_t callee = call->branches.front().procedure;
      // One that calls itself would have the path of the root call.
      const bool is_other =
          callee != kRootProcedure && !plan.procedures[callee].is_branch;
      if (is_other && (root.outputs.empty() || ReturnsAll(plan, root, *call))) {
        root_call_ = *call;
        return;
      }
    }
    Branch& first = root_call_.branches.emplace_back();
    first.procedure = kRootProcedure;
    for (int32_t i = 0; i < root.num_arguments; ++i) {
      first.arguments.push_back(Source::Slot(i));
    }
  }

  static void FindFront(const Plan& plan, const PlannedProcedure& procedure,
                        Procedure* found) {
    const CallSite* const call = OnlyCall(procedure);
    if (call == nullptr || procedure.is_branch) return;
    if (!ReturnsAll(plan, procedure, *call)) return;
    if (!call->key.has_value() || call->key->of_prologue()) return;
    if (call->key->slot >= procedure.num_arguments) return;
    found->kind = Kind::kAsks;
    found->body = &call->branches.front();
    found->key_argument = call->key->slot;
  }

  static void FindBranch(const Plan& plan, const PlannedProcedure& branch,
                         const Branch& taken, Procedure* found) {
    const auto outside = [&taken](Source source) {
      return source.of_prologue() ? source : taken.arguments[source.slot];
    };
    if (branch.stages.empty()) {
      found->kind = Kind::kReturns;
      for (const Source& output : branch.outputs) {
        found->results.push_back(outside(output));
      }
      return;
    }
    const CallSite* const call = OnlyCall(branch);
    if (call == nullptr || !IsPlain(*call)) return;
    if (!ReturnsAll(plan, branch, *call)) return;
    found->kind = Kind::kCalls;
    found->call = call;
    found->callee.procedure = call->branches.front().procedure;
    for (const Source& argument : call->branches.front().arguments) {
      found->callee.arguments.push_back(outside(argument));
    }
  }

  std::vector<Procedure> procedures_;
  CallSite root_call_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_PASS_THROUGH_H_
