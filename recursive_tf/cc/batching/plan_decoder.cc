#include "recursive_tf/cc/batching/plan_decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/code_reader.h"
#include "recursive_tf/cc/batching/in_place.h"
#include "recursive_tf/cc/batching/list_checker.h"
#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

bool PlanDecoder::Decode(Plan* plan) {
  if (!reader_.ReadVersion()) return false;
  plan->num_prologue_outputs = reader_.Count();
  plan->num_blocks = reader_.Count();
  plan->procedures.resize(reader_.Count());
  for (PlannedProcedure& procedure : plan->procedures) {
    Read(&procedure);
  }
  reader_.ReadEnd();
  if (reader_.ok()) Check(*plan);
  return reader_.ok();
}

std::vector<Source> PlanDecoder::ReadSources() {
  std::vector<Source> sources(reader_.Count());
  for (Source& source : sources) source = ReadSource();
  return sources;
}

void PlanDecoder::Read(PlannedProcedure* procedure) {
  procedure->is_branch = reader_.Number() != 0;
  procedure->num_arguments = reader_.Count();
  procedure->num_slots = reader_.Index();
  procedure->outputs = ReadSources();
  if (reader_.Number() != 0) procedure->goes_on = ReadBranch();
  procedure->stages.resize(reader_.Count());
  for (Stage& stage : procedure->stages) Read(&stage);
  procedure->lists.resize(reader_.Count());
  for (PlannedList& list : procedure->lists) {
    list.slot = reader_.Index();
    list.no_items = reader_.Index();
    list.count = ReadSource();
  }
}

void PlanDecoder::Read(Stage* stage) {
  stage->block = reader_.Index();
  stage->inputs.resize(reader_.Count());
  for (StageInput& input : stage->inputs) {
    input = ReadSources();
    if (input.empty()) reader_.Fail("has an input of nothing");
  }
  stage->first_output = reader_.Index();
  stage->num_outputs = reader_.Count();
  stage->pushes.resize(reader_.Count());
  for (PlannedPush& push : stage->pushes) {
    push.table = reader_.Index();
    push.index = ReadSource();
    push.value = ReadSource();
  }
  stage->calls.resize(reader_.Count());
  for (CallSite& call : stage->calls) Read(&call);
}

void PlanDecoder::Read(CallSite* call) {
  call->site = reader_.Index();
  call->num_mapped = reader_.Count();
  const int64_t decides = reader_.Number();
  const Source source = ReadSource();
  if (decides == kSelector) call->selector = source;
  if (decides == kKey) call->key = source;
  if (decides < 0 || decides > kKey) reader_.Fail("has a call of no kind");
  call->first_result = reader_.Index();
  call->branches.resize(reader_.Count());
  for (Branch& branch : call->branches) branch = ReadBranch();
}

Branch PlanDecoder::ReadBranch() {
  Branch branch;
  branch.procedure = reader_.Index();
  branch.arguments = ReadSources();
  return branch;
}

void PlanDecoder::Check(const Plan& plan) {
  if (plan.procedures.empty()) return reader_.Fail("has no procedures");
  std::set<int32_t> blocks;
  for (const PlannedProcedure& procedure : plan.procedures) {
    Check(procedure, plan);
    // Each of what follows might say to have as many slots.
    if (!reader_.ok()) return;
    for (const Stage& stage : procedure.stages) {
      if (stage.block == kNoBlock) continue;
      if (!blocks.insert(stage.block).second)
        reader_.Fail("runs a block twice");
    }
  }
  if (reader_.ok()) CheckBranches(plan);
  if (reader_.ok()) CheckLoops(plan);
  if (reader_.ok()) CheckShared(plan);
  if (reader_.ok()) ListChecker(&plan, &reader_).Check();
}

void PlanDecoder::CheckShared(const Plan& plan) {
  const InPlace in_place(plan);
  for (const PlannedProcedure& procedure : plan.procedures) {
    for (const Stage& stage : procedure.stages) {
      for (const CallSite& call : stage.calls) {
        if (!call.key.has_value()) continue;
        const int32_t body = call.branches.front().procedure;
        if (call.branches.size() != 1 || !in_place.RunsInPlace(body) ||
            plan.procedures[body].goes_on.has_value()) {
          reader_.Fail("has a key of what does not run in place");
        }
      }
    }
  }
}

void PlanDecoder::CheckLoops(const Plan& plan) {
  const InPlace in_place(plan);
  for (size_t p = 0; p < plan.procedures.size(); ++p) {
    const std::optional<Branch>& loop = plan.procedures[p].goes_on;
    if (!loop.has_value()) continue;
    const auto turn = static_cast<int32_t>(p);
    if (!in_place.RunsInPlace(turn) ||
        in_place.HomeOf(turn).procedure != loop->procedure) {
      reader_.Fail("has a loop that its turn is not in");
    }
  }
}

void PlanDecoder::CheckBranches(const Plan& plan) {
  if (plan.procedures.front().is_branch) reader_.Fail("begins with a branch");
  // By branch: the procedure that takes it.
  std::vector<int32_t> takers(plan.procedures.size(), kNoProcedure);
  for (size_t p = 0; p < plan.procedures.size(); ++p) {
    for (const int32_t taken : TakenBy(plan.procedures[p])) {
      if (!plan.procedures[taken].is_branch) continue;
      if (takers[taken] != kNoProcedure) {
        reader_.Fail("takes a branch in two places");
      }
      takers[taken] = static_cast<int32_t>(p);
    }
  }
  if (reader_.ok()) CheckNesting(takers);
}

void PlanDecoder::CheckNesting(const std::vector<int32_t>& takers) {
  // By procedure: from which one it was last passed on the way out.
  std::vector<size_t> passed(takers.size(), takers.size());
  for (size_t p = 0; p < takers.size(); ++p) {
    size_t at = p;
    while (passed[at] == takers.size()) {
      passed[at] = p;
      if (takers[at] == kNoProcedure) break;
      at = static_cast<size_t>(takers[at]);
    }
    if (passed[at] == p && takers[at] != kNoProcedure) {
      reader_.Fail("has a branch that only itself takes");
    }
  }
}

std::vector<int32_t> PlanDecoder::TakenBy(const PlannedProcedure& procedure) {
  std::vector<int32_t> taken;
  for (const Stage& stage : procedure.stages) {
    for (const CallSite& call : stage.calls) {
      for (const Branch& branch : call.branches) {
        taken.push_back(branch.procedure);
      }
    }
  }
  return taken;
}

void PlanDecoder::Check(const PlannedProcedure& procedure, const Plan& plan) {
  if (procedure.num_slots < procedure.num_arguments ||
      procedure.num_slots > reader_.size()) {
    return reader_.Fail("has a wrong number of slots");
  }
  is_filled_.assign(procedure.num_slots, false);
  Fill(0, procedure.num_arguments);
  for (const Stage& stage : procedure.stages) Check(stage, plan);
  Check(procedure.outputs, plan);
  if (procedure.goes_on.has_value()) Check(*procedure.goes_on, plan);
  if (std::count(is_filled_.begin(), is_filled_.end(), false) > 0) {
    reader_.Fail("has a slot that nothing fills");
  }
  num_slots_ += procedure.num_slots;
  if (num_slots_ > INT32_MAX) reader_.Fail("has too many slots");
}

void PlanDecoder::Check(const Stage& stage, const Plan& plan) {
  if (stage.block < kNoBlock || stage.block >= plan.num_blocks) {
    reader_.Fail("names a block that is not there");
  }
  if (stage.block == kNoBlock && stage.num_outputs > 0) {
    reader_.Fail("has outputs of no block");
  }
  for (const StageInput& input : stage.inputs) Check(input, plan);
  Fill(stage.first_output, stage.num_outputs);
  for (const PlannedPush& push : stage.pushes) {
    // A plan has more numbers than tables.
    if (push.table < 0 || push.table >= reader_.size()) {
      reader_.Fail("names a table that is not there");
    }
    Check({push.index, push.value}, plan);
  }
  for (const CallSite& call : stage.calls) Check(call, plan);
  for (const CallSite& call : stage.calls) {
    if (reader_.ok()) Fill(call.first_result, NumResults(call, plan));
  }
}

void PlanDecoder::Check(const CallSite& call, const Plan& plan) {
  if (call.selector.has_value()) Check({*call.selector}, plan);
  if (call.key.has_value()) Check({*call.key}, plan);
  if (call.branches.empty()) return reader_.Fail("has a call of nothing");
  for (const Branch& branch : call.branches) {
    Check(branch, plan);
    if (!reader_.ok()) return;
    const PlannedProcedure& callee = plan.procedures[branch.procedure];
    if (!callee.goes_on.has_value() &&
        static_cast<int64_t>(callee.outputs.size()) != NumResults(call, plan)) {
      reader_.Fail("has branches with unlike results");
    }
  }
}

void PlanDecoder::Check(const Branch& branch, const Plan& plan) {
  if (branch.procedure < 0 ||
      branch.procedure >= static_cast<int32_t>(plan.procedures.size())) {
    return reader_.Fail("names a procedure that is not there");
  }
  if (static_cast<size_t>(plan.procedures[branch.procedure].num_arguments) !=
      branch.arguments.size()) {
    reader_.Fail("calls a procedure with other arguments than it takes");
  }
  Check(branch.arguments, plan);
}

int64_t PlanDecoder::NumResults(const CallSite& call, const Plan& plan) {
  const int32_t first = call.branches.front().procedure;
  return static_cast<int64_t>(plan.procedures[first].outputs.size());
}

void PlanDecoder::Check(const std::vector<Source>& sources, const Plan& plan) {
  for (const Source& source : sources) {
    const bool is_there =
        source.of_prologue()
            ? source.prologue_output() < plan.num_prologue_outputs
            : source.slot < static_cast<int64_t>(is_filled_.size()) &&
                  is_filled_[source.slot];
    if (!is_there) reader_.Fail("reads a value that is not there");
  }
}

void PlanDecoder::Fill(int64_t first, int64_t count) {
  if (count == 0) return;
  if (first < 0 || first + count > static_cast<int64_t>(is_filled_.size())) {
    return reader_.Fail("puts a value where no slot is");
  }
  for (int64_t slot = first; slot < first + count; ++slot) {
    if (is_filled_[slot]) reader_.Fail("puts two values into one slot");
    is_filled_[slot] = true;
  }
}

}  // namespace recursive_tf
