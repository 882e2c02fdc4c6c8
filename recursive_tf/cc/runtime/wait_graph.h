#ifndef RECURSIVE_TF_CC_RUNTIME_WAIT_GRAPH_H_
#define RECURSIVE_TF_CC_RUNTIME_WAIT_GRAPH_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace recursive_tf {

// What waits for others, and others may wait for: one vertex of a WaitGraph.
struct WaitVertex {
  // Not more than that of any it needs, as long as that has not ended.
  int32_t level = 0;
  // Once it has ended: more than that of all it needed.
  int32_t height = 0;
  bool has_ended = false;
  // What it asked for, until it ends.
  std::vector<WaitVertex*> needs;
  // Who of its level asked for it.
  std::vector<WaitVertex*> needed_by;
  // The last search back that came here.
  int64_t search = 0;
};

// Who waits for whom. It finds a cycle when that would close, because nobody in
// it could ever go on.
//
// A cycle is within one level, so who begins to wait looks back there for what
// it waits for. A search that goes on for too long raises the other one's level
// instead, with all that it needs.
//
// Source: Bender, Fineman, Gilbert, Tarjan, "A New Approach to Incremental
// Cycle Detection and Related Problems", ACM Transactions on Algorithms 2015,
// section 2: the algorithm for sparse graphs.
//
// Thread safety: none; its owner locks.
//
// Cost: O(1) for what is new or has ended; in all, O(m^1.5) for m waits.
class WaitGraph {
 public:
  // Says that `asker`, which is null outside of all vertices, needs a new one.
  void AddNew(WaitVertex* asker, WaitVertex* needed) {
    if (asker == nullptr) return;
    needed->level = asker->level;
    AddEdge(asker, needed);
  }

  // Says that `asker`, or null, needs `needed`. Returns false if that closes a
  // cycle: then it must not wait.
  [[nodiscard]] bool Add(WaitVertex* asker, WaitVertex* needed) {
    if (asker == nullptr) return true;
    if (!needed->has_ended && asker->level >= needed->level &&
        !MakeOrder(asker, needed)) {
      return false;
    }
    AddEdge(asker, needed);
    return true;
  }

  // Says that a vertex needs nothing any more.
  static void End(WaitVertex* vertex) {
    for (const WaitVertex* needed : std::exchange(vertex->needs, {})) {
      vertex->height = std::max(vertex->height, needed->height);
    }
    vertex->needed_by = {};
    vertex->height += 1;
    vertex->has_ended = true;
  }

 private:
  enum class Found : uint8_t { kCycle, kNoCycle, kNotYet };

  void AddEdge(WaitVertex* asker, WaitVertex* needed) {
    ++num_edges_;
    if (most_steps_ * most_steps_ < num_edges_) ++most_steps_;
    asker->needs.push_back(needed);
    if (asker->level == needed->level) needed->needed_by.push_back(asker);
  }

  // Makes the levels such that `asker` may need `needed`. Returns false if
  // `needed` needs `asker`.
  bool MakeOrder(WaitVertex* asker, WaitVertex* needed) {
    const Found found = SearchBack(asker, needed);
    if (found == Found::kCycle) return false;
    if (found == Found::kNoCycle && asker->level == needed->level) return true;
    if (found == Found::kNoCycle) return Raise(needed, asker->level);
    asker->search = ++num_searches_;  // What was seen beside it is forgotten.
    return Raise(needed, asker->level + 1);
  }

  // Looks for `needed` among those of the level of `asker` that need that.
  Found SearchBack(WaitVertex* asker, const WaitVertex* needed) {
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

  // Raises the level of `vertex`, and of all that it needs. Returns false if
  // what the last search saw is among that.
  bool Raise(WaitVertex* vertex, int32_t level) const {
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

  int64_t num_edges_ = 0;
  // Of a search: the root of `num_edges_`.
  int64_t most_steps_ = 1;
  int64_t num_searches_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_WAIT_GRAPH_H_
