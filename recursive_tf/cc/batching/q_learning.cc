#include "recursive_tf/cc/batching/q_learning.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/critical_path_policy.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/batching/policy_table.h"
#include "recursive_tf/cc/batching/rehearsal.h"
#include "recursive_tf/cc/batching/sufficient_policy.h"
#include "recursive_tf/cc/batching/table_policy.h"

namespace recursive_tf {

QLearning::QLearning(const std::vector<LaunchGraph>* graphs,
                     const LearningSettings& settings)
    : settings_(settings), random_(settings.seed) {
  for (const LaunchGraph& graph : *graphs) {
    rehearsals_.push_back(std::make_unique<Rehearsal>(&graph));
  }
}

void QLearning::Try() {
  for (const auto& rehearsal : rehearsals_) {
    Learn(RunTrial(rehearsal.get()));
  }
  ++num_trials_;
}

PolicyTable QLearning::Table() const {
  PolicyTable table{settings_.encoding, {}};
  for (const auto& [state, values] : values_) {
    table.choices[state] = Best(state);
  }
  return table;
}

int64_t QLearning::Launches(const PolicyTable& table) {
  int64_t launches = 0;
  for (const auto& rehearsal : rehearsals_) {
    launches += rehearsal->Run(TablePolicy(&rehearsal->order(), table));
  }
  return launches;
}

int64_t QLearning::LeastLaunches() const {
  int64_t launches = 0;
  for (const auto& rehearsal : rehearsals_) {
    launches += rehearsal->LeastLaunches();
  }
  return launches;
}

std::vector<QLearning::Step> QLearning::RunTrial(Rehearsal* rehearsal) {
  const Frontier& frontier = rehearsal->frontier();
  std::vector<Step> steps;
  rehearsal->Restart();
  while (!rehearsal->is_done()) {
    FrontierState state =
        Encode(frontier, rehearsal->order(), settings_.encoding);
    const int32_t block = Choose(*rehearsal, state);
    const double share = SufficientPolicy::ReadyShare(
        frontier, rehearsal->sub_frontiers(), block);
    const double reward = settings_.share_reward * share - 1;
    steps.push_back({std::move(state), block, reward});
    rehearsal->Launch({block, kEveryDepth});
  }
  return steps;
}

int32_t QLearning::Choose(const Rehearsal& rehearsal,
                          const FrontierState& state) {
  const BlockOrder& order = rehearsal.order();
  const Frontier& frontier = rehearsal.frontier();
  switch (num_trials_) {
    case 0:
      return SufficientPolicy(&order, &rehearsal.sub_frontiers())
          .Choose(frontier)
          .block;
    case 1:
      return CriticalPathPolicy(&order).Choose(frontier).block;
    default:
      return Explore(state);
  }
}

int32_t QLearning::Explore(const FrontierState& state) {
  std::bernoulli_distribution explores(settings_.exploration);
  if (values_.count(state) > 0 && !explores(random_)) return Best(state);
  std::uniform_int_distribution<size_t> any(0, state.size() - 1);
  return state[any(random_)];
}

int32_t QLearning::Best(const FrontierState& state) const {
  const Values& values = values_.at(state);
  return std::max_element(
             values.begin(), values.end(),
             [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

void QLearning::Learn(const std::vector<Step>& steps) {
  // The sum of rewards from each step on.
  std::vector<double> left(steps.size() + 1, 0);
  for (size_t i = steps.size(); i-- > 0;) {
    left[i] = left[i + 1] + steps[i].reward;
  }
  // Backward, so that what is found at the end is known before.
  for (size_t i = steps.size(); i-- > 0;) {
    const size_t ahead = std::min(i + settings_.num_steps, steps.size());
    double found = left[i] - left[ahead];
    if (ahead < steps.size()) {
      const FrontierState& state = steps[ahead].state;
      found += values_.at(state).at(Best(state));
    }
    const auto [value, is_new] =
        values_[steps[i].state].emplace(steps[i].block, found);
    if (!is_new) value->second += settings_.rate * (found - value->second);
  }
}

}  // namespace recursive_tf
