// Calls of the recursive runtime in any order: of all that fail, the one is
// reported that a program would meet which makes its calls one after the other,
// and whatever ends, nothing is left.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/base/census.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/first_failure.h"
#include "tests/cc/simulation/pieces.h"
#include "tests/cc/simulation/schedules.h"

namespace recursive_tf {
namespace {

using recursive_tf_schedules::ForEachSchedule;

// A call: what it calls, side by side, and whether it fails before or after.
struct Planned {
  int32_t number = 0;
  bool fails_before = false;
  bool fails_after = false;
  std::vector<std::unique_ptr<Planned>> calls;
};

std::unique_ptr<Planned> Plan(Pieces* draws, int levels, int32_t* next) {
  auto planned = std::make_unique<Planned>();
  planned->number = (*next)++;
  constexpr int kRarely = 12;
  planned->fails_before = draws->DrawOneIn(kRarely);
  planned->fails_after = draws->DrawOneIn(kRarely);
  const uint64_t num_calls = levels == 0 ? 0 : draws->Draw(4);
  for (uint64_t i = 0; i < num_calls; ++i) {
    planned->calls.push_back(Plan(draws, levels - 1, next));
  }
  return planned;
}

// Returns which call fails if they are made one after the other.
std::optional<int32_t> FirstToFail(const Planned& planned) {
  if (planned.fails_before) return planned.number;
  for (const auto& call : planned.calls) {
    if (const auto failed = FirstToFail(*call)) return failed;
  }
  if (planned.fails_after) return planned.number;
  return std::nullopt;
}

// How a call ended, as its caller is told.
enum class Told : uint8_t { kOk, kCancelled };

// A root call, as ProgramRun and Call make one of TensorFlow's executor: with
// the same parts of the core, in the same order.
class Run {
 public:
  using Done = std::function<void(Told told)>;

  Run(Pieces* pieces, ActivationLimits limits, bool keeps)
      : pieces_(*pieces), tree_(limits, keeps) {}

  void Invoke(const Planned& planned, const Activation* caller, int32_t site,
              int32_t row, Done done) {
    Activation* entered = nullptr;
    const Invocation invocation{caller, /*procedure=*/0, site, row};
    if (tree_.Enter(invocation, &entered) !=
        ActivationTree::Verdict::kEntered) {
      const Activation refused = tree_.Describe(invocation);
      const Told told = Fail(refused, kLimit);
      is_cancelled_ = true;
      done(told);
      return;
    }
    if (is_cancelled_ || failure_.Precedes(*entered)) {
      End(entered, std::nullopt, Told::kCancelled, done);
      return;
    }
    pieces_.Add([this, &planned, entered, done = std::move(done)] {
      RunBody(planned, entered, done);
    });
  }

  void Cancel() { is_cancelled_ = true; }

  static constexpr int32_t kLimit = -1;
  // Returns what failed first, if anything did.
  std::optional<int32_t> error() const {
    const auto found = failure_.Get();
    return found.has_value() ? std::optional<int32_t>(found->error)
                             : std::nullopt;
  }
  int64_t num_alive() const { return tree_.num_alive(); }
  bool keeps() const { return tree_.keeps(); }

 private:
  void RunBody(const Planned& planned, const Activation* activation,
               const Done& done) {
    if (planned.fails_before) {
      End(activation, planned.number, Told::kOk, done);
      return;
    }
    if (planned.calls.empty()) {
      EndBody(planned, activation, Told::kOk, done);
      return;
    }
    auto num_pending = std::make_shared<size_t>(planned.calls.size());
    auto told = std::make_shared<Told>(Told::kOk);
    for (size_t i = 0; i < planned.calls.size(); ++i) {
      Invoke(*planned.calls[i], activation, static_cast<int32_t>(i), /*row=*/0,
             [=, this_call = &planned](Told of_call) {
               if (of_call != Told::kOk) *told = of_call;
               if (--*num_pending > 0) return;
               EndBody(*this_call, activation, *told, done);
             });
    }
  }

  void EndBody(const Planned& planned, const Activation* activation, Told told,
               const Done& done) {
    pieces_.Add([this, &planned, activation, told, done] {
      const bool fails = told == Told::kOk && planned.fails_after;
      End(activation,
          fails ? std::optional<int32_t>(planned.number) : std::nullopt, told,
          done);
    });
  }

  void End(const Activation* activation, std::optional<int32_t> error,
           Told told, const Done& done) {
    if (error.has_value()) told = Fail(*activation, *error);
    failure_.Forget(*activation);
    tree_.Leave(activation);
    done(told);
  }

  Told Fail(const Activation& activation, int32_t error) {
    failure_.Record(activation, error);
    return Told::kCancelled;
  }

  Pieces& pieces_;
  ActivationTree tree_;
  FirstFailure<int32_t> failure_;
  bool is_cancelled_ = false;
};

void RunRows(uint64_t seed) {
  Pieces pieces(seed);
  Census::Global().set_is_on(true);
  {
    std::vector<std::unique_ptr<Planned>> rows;
    int32_t num_calls = 0;
    const uint64_t num_rows = 1 + pieces.Draw(3);
    for (uint64_t i = 0; i < num_rows; ++i) {
      rows.push_back(Plan(&pieces, /*levels=*/3, &num_calls));
    }
    ActivationLimits limits;
    if (pieces.DrawOneIn(6)) limits.max_activations = 1 + pieces.Draw(6);
    const bool is_given_up = pieces.DrawOneIn(4);
    Run run(&pieces, limits, /*keeps=*/pieces.DrawOneIn(2));
    std::vector<int> num_ends(rows.size(), 0);
    bool is_ok = true;
    for (size_t row = 0; row < rows.size(); ++row) {
      run.Invoke(*rows[row], nullptr, kRootSite, static_cast<int32_t>(row),
                 [&, row](Told told) {
                   ++num_ends[row];
                   is_ok = is_ok && told == Told::kOk;
                 });
    }
    pieces.RunAll([&] {
      if (is_given_up && pieces.DrawOneIn(8)) run.Cancel();
    });
    EXPECT_EQ(num_ends, std::vector<int>(rows.size(), 1));
    if (!run.keeps()) {
      EXPECT_EQ(run.num_alive(), 0);
    }
    std::optional<int32_t> expected;
    for (const auto& row : rows) {
      if (!expected.has_value()) expected = FirstToFail(*row);
    }
    if (!is_given_up && limits.max_activations == 0) {
      EXPECT_EQ(run.error(), expected);
      EXPECT_EQ(is_ok, !expected.has_value());
    } else if (run.error().has_value() && run.error() != Run::kLimit) {
      EXPECT_TRUE(expected.has_value());
    }
  }
  EXPECT_EQ(Census::Global().Count(Census::Kind::kActivations), 0);
}

TEST(SimulatedCallsTest, TheFirstFailureIsReportedAndNothingIsLeft) {
  ForEachSchedule(5000, RunRows);
}

}  // namespace
}  // namespace recursive_tf
