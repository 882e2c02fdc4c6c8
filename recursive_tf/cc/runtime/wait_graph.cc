#include "recursive_tf/cc/runtime/wait_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace recursive_tf {

void WaitGraph::AddNew(WaitVertex* asker, WaitVertex* needed) {
  if (asker == nullptr) return;
  needed->level = asker->level;
  AddEdge(asker, needed);
}

bool WaitGraph::Add(WaitVertex* asker, WaitVertex* needed) {
  if (asker == nullptr) return true;
  if (!needed->has_ended && asker->level >= needed->level &&
      !MakeOrder(asker, needed)) {
    return false;
  }
  AddEdge(asker, needed);
  return true;
}

void WaitGraph::End(WaitVertex* vertex) {
  for (const WaitVertex* needed : std::exchange(vertex->needs, {})) {
    vertex->height = std::max(vertex->height, needed->height);
  }
  vertex->needed_by = {};
  vertex->height += 1;
  vertex->has_ended = true;
}

std::vector<const WaitVertex*> WaitGraph::Way(const WaitVertex* first,
                                              const WaitVertex* last) {
  // By vertex: what needs it.
  std::unordered_map<const WaitVertex*, const WaitVertex*> before;
  before.emplace(first, nullptr);
  std::vector<const WaitVertex*> todo = {first};
  for (size_t i = 0; before.count(last) == 0; ++i) {
    for (const WaitVertex* needed : todo[i]->needs) {
      if (before.emplace(needed, todo[i]).second) todo.push_back(needed);
    }
  }
  std::vector<const WaitVertex*> way;
  for (const WaitVertex* at = last; at != nullptr; at = before.at(at)) {
    way.push_back(at);
  }
  std::reverse(way.begin(), way.end());
  return way;
}

void WaitGraph::AddEdge(WaitVertex* asker, WaitVertex* needed) {
  ++num_edges_;
  if (most_steps_ * most_steps_ < num_edges_) ++most_steps_;
  asker->needs.push_back(needed);
  if (asker->level == needed->level) needed->needed_by.push_back(asker);
}

bool WaitGraph::MakeOrder(WaitVertex* asker, WaitVertex* needed) {
  const Found found = SearchBack(asker, needed);
  if (found == Found::kCycle) return false;
  if (found == Found::kNoCycle && asker->level == needed->level) return true;
  if (found == Found::kNoCycle) return Raise(needed, asker->level);
  asker->search = ++num_searches_;  // What was seen beside it is forgotten.
  return Raise(needed, asker->level + 1);
}

WaitGraph::Found WaitGraph::SearchBack(WaitVertex* asker,
                                       const WaitVertex* needed) {
  if (asker == needed) return Found::kCycle;
  asker->search = ++num_searches_;
  std::vector<WaitVertex*> todo = {asker};
  int64_t num_steps = 0;
  while (!todo.empty()) {
    const WaitVertex* vertex = todo.back();
    todo.pop_back();
    for (WaitVertex* before : vertex->needed_by) {
      if (before == needed) return Found::kCycle;
      if (++num_steps > most_steps_) return Found::kNotYet;
      if (before->search == num_searches_) continue;
      before->search = num_searches_;
      todo.push_back(before);
    }
  }
  return Found::kNoCycle;
}

bool WaitGraph::Raise(WaitVertex* vertex, int32_t level) const {
  vertex->level = level;
  vertex->needed_by.clear();
  std::vector<WaitVertex*> todo = {vertex};
  bool is_new = true;
  while (!todo.empty()) {
    WaitVertex* const raised = todo.back();
    todo.pop_back();
    for (WaitVertex* needed : raised->needs) {
      if (needed->has_ended || needed->level > level) continue;
      if (needed->search == num_searches_) is_new = false;
      if (needed->level < level) {
        needed->level = level;
        needed->needed_by.clear();
        todo.push_back(needed);
      }
      needed->needed_by.push_back(raised);
    }
  }
  return is_new;
}

}  // namespace recursive_tf
