#ifndef RECURSIVE_TF_CC_RUNTIME_WAIT_GRAPH_H_
#define RECURSIVE_TF_CC_RUNTIME_WAIT_GRAPH_H_

#include <cstdint>
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
  void AddNew(WaitVertex* asker, WaitVertex* needed);

  // Says that `asker`, or null, needs `needed`. Returns false if that closes a
  // cycle: then it must not wait.
  [[nodiscard]] bool Add(WaitVertex* asker, WaitVertex* needed);

  // Returns a way from what a vertex needs to what needs that, ..., to `last`.
  // REQUIRES: there is one, none of which has ended.
  static std::vector<const WaitVertex*> Way(const WaitVertex* first,
                                            const WaitVertex* last);

  // Says that a vertex needs nothing any more.
  static void End(WaitVertex* vertex);

 private:
  enum class Found : uint8_t { kCycle, kNoCycle, kNotYet };

  void AddEdge(WaitVertex* asker, WaitVertex* needed);

  // Makes the levels such that `asker` may need `needed`. Returns false if
  // `needed` needs `asker`.
  bool MakeOrder(WaitVertex* asker, WaitVertex* needed);

  // Looks for `needed` among those of the level of `asker` that need that.
  Found SearchBack(WaitVertex* asker, const WaitVertex* needed);

  // Raises the level of `vertex`, and of all that it needs. Returns false if
  // what the last search saw is among that.
  bool Raise(WaitVertex* vertex, int32_t level) const;

  int64_t num_edges_ = 0;
  // Of a search: the root of `num_edges_`.
  int64_t most_steps_ = 1;
  int64_t num_searches_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_WAIT_GRAPH_H_
