#include "recursive_tf/cc/batching/list_checker.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/code_reader.h"
#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

void ListChecker::Check() const {
  const PlannedProcedure& entry = plan_.procedures.front();
  for (int32_t slot = 0; slot < entry.num_arguments; ++slot) {
    Expect(entry.ListAt(Source::Slot(slot)) == nullptr);
  }
  ExpectRows(entry, entry.outputs);
  for (const PlannedProcedure& procedure : plan_.procedures) {
    Check(procedure);
  }
}

void ListChecker::Expect(bool is_right) const {
  if (!is_right) reader_.Fail("mistakes a list for a row, or a row for one");
}

void ListChecker::ExpectRows(const PlannedProcedure& procedure,
                             const std::vector<Source>& sources) const {
  for (const Source& source : sources) {
    Expect(procedure.ListAt(source) == nullptr);
  }
}

void ListChecker::Check(const PlannedProcedure& procedure) const {
  for (size_t i = 0; i < procedure.lists.size(); ++i) {
    const PlannedList& list = procedure.lists[i];
    const bool is_there = list.slot >= 0 && list.slot < procedure.num_slots &&
                          list.no_items >= 0 &&
                          list.no_items < plan_.num_prologue_outputs &&
                          procedure.ListAt(Source::Slot(list.slot)) == &list;
    if (!is_there) return reader_.Fail("names a list that is not there");
  }
  std::vector<bool> is_filled(procedure.num_slots, false);
  const auto fill = [&is_filled](int32_t first, int64_t count) {
    std::fill_n(is_filled.begin() + first, count, true);
  };
  if (procedure.num_arguments > 0) fill(0, procedure.num_arguments);
  for (const Stage& stage : procedure.stages) {
    for (const StageInput& input : stage.inputs) {
      if (input.size() > 1) ExpectRows(procedure, input);
    }
    if (stage.num_outputs > 0) fill(stage.first_output, stage.num_outputs);
    for (int32_t output = 0; output < stage.num_outputs; ++output) {
      CheckCount(procedure, is_filled, stage.first_output + output);
    }
    for (const PlannedPush& push : stage.pushes) {
      ExpectRows(procedure, {push.index, push.value});
    }
    for (const CallSite& call : stage.calls) Check(call, procedure);
    for (const CallSite& call : stage.calls) {
      const int64_t num_results = NumResults(call);
      if (num_results > 0) fill(call.first_result, num_results);
    }
  }
  if (procedure.goes_on.has_value()) {
    CheckArguments(*procedure.goes_on, 0, procedure);
  }
}

void ListChecker::CheckCount(const PlannedProcedure& procedure,
                             const std::vector<bool>& is_filled,
                             int32_t slot) const {
  const PlannedList* list = procedure.ListAt(Source::Slot(slot));
  if (list == nullptr) return;
  ExpectRows(procedure, {list->count});
  const bool is_there =
      list->count.of_prologue()
          ? list->count.prologue_output() < plan_.num_prologue_outputs
          : list->count.slot < procedure.num_slots &&
                is_filled[list->count.slot];
  if (!is_there) reader_.Fail("counts by a value that is not there");
}

void ListChecker::Check(const CallSite& call,
                        const PlannedProcedure& caller) const {
  if (call.selector.has_value()) ExpectRows(caller, {*call.selector});
  if (call.key.has_value()) ExpectRows(caller, {*call.key});
  for (const Branch& branch : call.branches) {
    CheckArguments(branch, call.num_mapped, caller);
  }
  for (const Branch& branch : call.branches) {
    CheckResults(call, plan_.procedures[branch.procedure], caller);
  }
  if (call.num_mapped == 0) return;
  const Branch& callee = call.branches.front();
  if (call.branches.size() > 1 ||
      call.num_mapped > static_cast<int64_t>(callee.arguments.size()) ||
      plan_.procedures[callee.procedure].is_branch) {
    reader_.Fail("maps what is no SubGraph");
  }
}

void ListChecker::CheckArguments(const Branch& branch, int32_t num_mapped,
                                 const PlannedProcedure& caller) const {
  const PlannedProcedure& callee = plan_.procedures[branch.procedure];
  const PlannedList* first = nullptr;
  for (size_t i = 0; i < branch.arguments.size(); ++i) {
    const PlannedList* list = caller.ListAt(branch.arguments[i]);
    const bool is_list =
        callee.ListAt(Source::Slot(static_cast<int32_t>(i))) != nullptr;
    if (static_cast<int32_t>(i) >= num_mapped) {
      Expect(is_list == (list != nullptr));
      continue;
    }
    if (i == 0) first = list;
    // Lists that are counted by one value have as many items.
    Expect(!is_list && list != nullptr && first != nullptr &&
           list->count.slot == first->count.slot);
  }
}

void ListChecker::CheckResults(const CallSite& call,
                               const PlannedProcedure& callee,
                               const PlannedProcedure& caller) const {
  if (callee.goes_on.has_value()) return;
  for (size_t i = 0; i < callee.outputs.size(); ++i) {
    const int32_t slot = call.first_result + static_cast<int32_t>(i);
    const bool is_list = caller.ListAt(Source::Slot(slot)) != nullptr;
    const bool gives_list = callee.ListAt(callee.outputs[i]) != nullptr;
    Expect(call.num_mapped > 0 ? is_list && !gives_list
                               : is_list == gives_list);
  }
}

int64_t ListChecker::NumResults(const CallSite& call) const {
  const int32_t first = call.branches.front().procedure;
  return static_cast<int64_t>(plan_.procedures[first].outputs.size());
}

}  // namespace recursive_tf
