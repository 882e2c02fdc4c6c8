// The lists of a flow: what launches take and give of them (flow_steps.h).

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/flow_steps.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

using Kind = FlowSource::Kind;

void FlowSteps::FindItems(const FlowSource& source, const FlowListInput& list,
                          Launch* launch) const {
  Rows& rows = launch->inputs[list.input].front();
  rows.Clear();
  ListInput& added = launch->list_inputs.emplace_back();
  added.input = list.input;
  added.no_items = list.no_items;
  added.counts.reserve(launch->activations.size());
  for (const FlowInvocation* const by : launched_) {
    const ValueRow* const cells = by->cells();
    const ValueRow first = cells[source.cell];
    if (source.kind == Kind::kCall) {
      AddResultsOfItems(source, first, &rows);
      added.counts.push_back(first.row);
      continue;
    }
    const int32_t count = cells[source.cell + 1].value;
    for (int32_t item = 0; item < count; ++item) {
      rows.Add({first.value + source.index, first.row + item});
    }
    added.counts.push_back(count);
  }
}

void FlowSteps::AddResultsOfItems(const FlowSource& source, ValueRow items,
                                  Rows* rows) const {
  constexpr int32_t kAhead = 8;
  const int32_t* const asked = asked_for_items_.data() + items.value;
  for (int32_t item = 0; item < items.row; ++item) {
    if (item + kAhead < items.row) table_.PrefetchResults(asked[item + kAhead]);
    rows->Add(table_.result(asked[item], source.index));
  }
}

void FlowSteps::FindCounts(const FlowListOutput& list, int32_t stage,
                           Launch* launch) const {
  const bool is_own = list.count.kind == Kind::kCell && list.count.of == stage;
  ListOutput& added = launch->list_outputs.emplace_back();
  added.output = list.output;
  added.counts.reserve(launch->activations.size());
  for (int32_t i = 0; i < launch->num_activations(); ++i) {
    added.counts.push_back(
        is_own ? ValueRow{launch->first_value + list.count.index, i}
               : Find(*launched_[i], list.count));
  }
}

void FlowSteps::PutList(const Launch& launch, const FlowListOutput& list,
                        const std::vector<ValueRow>& counts) {
  int32_t row = 0;
  for (int32_t i = 0; i < launch.num_activations(); ++i) {
    ValueRow* const cells = launched_[i]->cells();
    const int32_t count = host_->ReadCount(counts[i]);
    cells[list.cell] = {launch.first_value, row};
    cells[list.cell + 1].value = count;
    row += count;
  }
}

void FlowSteps::ReleaseItems(const FlowSource& source,
                             const FlowInvocation& by) {
  const ValueRow items = by.cells()[source.cell];
  for (int32_t item = 0; item < items.row; ++item) {
    const int32_t asked = asked_for_items_[items.value + item];
    readers_.Remove(table_.result(asked, source.index));
  }
}

}  // namespace recursive_tf
