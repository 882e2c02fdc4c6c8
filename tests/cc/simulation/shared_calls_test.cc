// Shared invocations in any order: each key runs once, whoever asks is told,
// and those that wait for themselves learn it, and no others.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/runtime/memo_key.h"
#include "recursive_tf/cc/runtime/shared_invocations.h"
#include "recursive_tf/cc/runtime/wait_graph.h"
#include "tests/cc/simulation/pieces.h"
#include "tests/cc/simulation/schedules.h"

namespace recursive_tf {
namespace {

using recursive_tf_schedules::ForEachSchedule;

struct Outcome {
  int64_t number = -1;
  bool is_ok = false;
};

// By number of a key: what its body asks for, and whether it fails then.
struct Needs {
  std::vector<std::vector<int64_t>> of;
  std::vector<bool> fails;
};

Needs DrawNeeds(Pieces* draws) {
  Needs needs;
  const uint64_t num_keys = 1 + draws->Draw(12);
  // Of half of all graphs there is no cycle: each needs only such before it.
  const bool has_order = draws->DrawOneIn(2);
  const bool may_fail = draws->DrawOneIn(3);
  for (uint64_t i = 0; i < num_keys; ++i) {
    std::vector<int64_t>& of = needs.of.emplace_back();
    const uint64_t bound = has_order ? i : num_keys;
    const uint64_t count = bound == 0 ? 0 : draws->Draw(3);
    for (uint64_t k = 0; k < count; ++k) {
      of.push_back(static_cast<int64_t>(draws->Draw(bound)));
    }
    needs.fails.push_back(may_fail && draws->DrawOneIn(6));
  }
  return needs;
}

// Returns whether a way from `from` leads into a cycle.
bool LeadsToCycle(const Needs& needs, int64_t from, std::set<int64_t>* on_way) {
  if (!on_way->insert(from).second) return true;
  for (const int64_t next : needs.of[from]) {
    if (LeadsToCycle(needs, next, on_way)) return true;
  }
  on_way->erase(from);
  return false;
}

// Fronts and bodies, as SharedCallOp makes them.
class Run {
 public:
  using Shared = SharedInvocations<Outcome>::Shared;
  using Verdict = SharedInvocations<Outcome>::Verdict;
  using Done = std::function<void(bool is_ok)>;

  Run(Pieces* pieces, const Needs* needs)
      : pieces_(*pieces), needs_(*needs), num_runs_(needs->of.size(), 0) {}

  void Ask(Shared* asker, int64_t number, const Done& done) {
    Shared* shared = nullptr;
    std::vector<int64_t> cycle;
    const auto waiter = [done](const Outcome& outcome) { done(outcome.is_ok); };
    switch (shared_.Ask({/*procedure=*/0, number}, asker, waiter, &shared,
                        &cycle)) {
      case Verdict::kIsNew:
        pieces_.Add([this, shared, number] { RunBody(shared, number); });
        return;
      case Verdict::kWillEnd:
        return;
      case Verdict::kHasEnded:
        done(shared->outcome().is_ok);
        return;
      case Verdict::kIsCycle:
        ++num_cycles_;
        CheckCycle(cycle);
        done(false);
        return;
    }
  }

  int num_cycles() const { return num_cycles_; }
  const std::vector<int>& num_runs() const { return num_runs_; }

  // What one needed stands before it.
  void CheckHeights() const {
    std::map<int64_t, size_t> heights;
    const auto levels = shared_.ByHeight();
    for (size_t height = 0; height < levels.size(); ++height) {
      for (const Outcome* outcome : levels[height]) {
        heights[outcome->number] = height;
      }
    }
    EXPECT_EQ(heights.size(), static_cast<size_t>(std::count(
                                  num_runs_.begin(), num_runs_.end(), 1)));
    if (num_cycles_ > 0) return;
    for (const auto& [number, height] : heights) {
      for (const int64_t needed : needs_.of[number]) {
        EXPECT_LT(heights.at(needed), height);
      }
    }
  }

 private:
  void RunBody(Shared* shared, int64_t number) {
    ++num_runs_[number];
    const std::vector<int64_t>& needed = needs_.of[number];
    if (needed.empty()) return EndBody(shared, number, true);
    auto num_pending = std::make_shared<size_t>(needed.size());
    auto is_ok = std::make_shared<bool>(true);
    for (const int64_t next : needed) {
      pieces_.Add([=] {
        Ask(shared, next, [=](bool ok) {
          *is_ok = *is_ok && ok;
          if (--*num_pending == 0) EndBody(shared, number, *is_ok);
        });
      });
    }
  }

  void EndBody(Shared* shared, int64_t number, bool is_ok) {
    pieces_.Add(
        [=] { shared_.End(shared, {number, is_ok && !needs_.fails[number]}); });
  }

  void CheckCycle(const std::vector<int64_t>& cycle) {
    ASSERT_FALSE(cycle.empty());
    for (size_t i = 0; i < cycle.size(); ++i) {
      const std::vector<int64_t>& of = needs_.of[cycle[i]];
      const int64_t next = cycle[(i + 1) % cycle.size()];
      EXPECT_NE(std::find(of.begin(), of.end(), next), of.end());
    }
  }

  Pieces& pieces_;
  const Needs& needs_;
  SharedInvocations<Outcome> shared_;
  std::vector<int> num_runs_;
  int num_cycles_ = 0;
};

void RunGraph(uint64_t seed) {
  Pieces pieces(seed);
  const Needs needs = DrawNeeds(&pieces);
  Run run(&pieces, &needs);
  std::vector<int> num_ends(1 + pieces.Draw(3), 0);
  bool is_ok = true;
  bool has_cycle = false;
  for (int& num_ends_of_root : num_ends) {
    const auto root = static_cast<int64_t>(pieces.Draw(needs.of.size()));
    std::set<int64_t> on_way;
    has_cycle = has_cycle || LeadsToCycle(needs, root, &on_way);
    pieces.Add([&, root] {
      run.Ask(nullptr, root, [&](bool ok) {
        ++num_ends_of_root;
        is_ok = is_ok && ok;
      });
    });
  }
  pieces.RunAll();
  EXPECT_EQ(num_ends, std::vector<int>(num_ends.size(), 1));
  for (const int num_runs : run.num_runs()) EXPECT_LE(num_runs, 1);
  EXPECT_EQ(run.num_cycles() > 0, has_cycle);
  bool fails = has_cycle;
  for (size_t i = 0; i < needs.of.size(); ++i) {
    fails = fails || (run.num_runs()[i] > 0 && needs.fails[i]);
  }
  EXPECT_EQ(is_ok, !fails);
  run.CheckHeights();
}

TEST(SimulatedSharedCallsTest, EachRunsOnceAndWhoeverAsksIsTold) {
  ForEachSchedule(5000, RunGraph);
}

}  // namespace
}  // namespace recursive_tf
