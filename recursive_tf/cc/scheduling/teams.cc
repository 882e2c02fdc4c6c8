#include "recursive_tf/cc/scheduling/teams.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "recursive_tf/cc/scheduling/cores.h"
#include "recursive_tf/cc/scheduling/helpers.h"

namespace recursive_tf {
namespace {

constexpr int kBits = 64;

// Returns the cores of a team; none where there are too few for all teams.
std::vector<int> CoresOf(int team, int num_teams, int num_threads,
                         const std::vector<int>& usable) {
  if (static_cast<size_t>(num_teams) * num_threads > usable.size()) return {};
  const auto first = usable.begin() + team * num_threads;
  return {first, first + num_threads};
}

}  // namespace

Teams::Teams(int num_teams, int num_threads, bool pinned)
    : num_threads_(num_threads), idle_((num_teams + kBits - 1) / kBits, 0) {
  const std::vector<int> usable = pinned ? UsableCores() : std::vector<int>();
  for (int i = 0; i < num_teams; ++i) {
    auto team = std::make_unique<Team>();
    team->teams = this;
    team->number = i;
    teams_.push_back(std::move(team));
  }
  for (const auto& team : teams_) {
    Team* const self = team.get();
    const std::vector<int> cores =
        CoresOf(self->number, num_teams, num_threads, usable);
    const auto begin = [self, cores](int /*thread*/) {
      OfThread() = self;
      StayOn(cores);
    };
    if (num_threads > 1) {
      self->helpers = std::make_unique<Helpers>(num_threads, begin);
    }
    self->leader = std::thread([this, self, begin] {
      begin(0);
      Lead(self);
    });
  }
}

Teams::~Teams() {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    has_ended_ = true;
  }
  for (const auto& team : teams_) team->changed.notify_one();
  for (const auto& team : teams_) team->leader.join();
}

void Teams::Submit(int64_t level, Work work) {
  std::vector<Team*> woken;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    Ready ready{level, num_submitted_++, std::move(work)};
    Team* const team = OfThread();
    const bool leads = team != nullptr && team->teams == this &&
                       std::this_thread::get_id() == team->leader.get_id();
    if (leads) {
      Keep(team, std::move(ready));
    } else {
      Push(std::move(ready));
    }
    woken = HandOut();
  }
  Wake(woken);
}

int Teams::TeamOfThread() {
  const Team* const team = OfThread();
  return team == nullptr ? -1 : team->number;
}

bool Teams::Help(Work* work) {
  Team* const team = OfThread();
  if (team == nullptr || team->helpers == nullptr) return false;
  team->helpers->Schedule(std::move(*work));
  return true;
}

void Teams::Lead(Team* team) {
  while (std::optional<Ready> ready = Next(team)) {
    ready->work();
  }
}

// Returns what the team runs next, or nothing if there is never more.
std::optional<Teams::Ready> Teams::Next(Team* team) {
  std::unique_lock<std::mutex> lock(mu_);
  if (team->kept.has_value()) {
    Push(*std::exchange(team->kept, std::nullopt));
  }
  if (!heap_.empty()) return Pop();
  SetIdle(team->number);
  team->changed.wait(lock,
                     [&] { return team->buffer.has_value() || has_ended_; });
  // Whoever goes is handed nothing any more.
  if (!team->buffer.has_value()) ClearIdle(team->number);
  return std::exchange(team->buffer, std::nullopt);
}

void Teams::Keep(Team* team, Ready ready) {
  if (!team->kept.has_value()) {
    team->kept = std::move(ready);
    return;
  }
  if (*team->kept < ready) std::swap(*team->kept, ready);
  Push(std::move(ready));
}

void Teams::Push(Ready ready) {
  heap_.push_back(std::move(ready));
  std::push_heap(heap_.begin(), heap_.end());
}

Teams::Ready Teams::Pop() {
  std::pop_heap(heap_.begin(), heap_.end());
  Ready ready = std::move(heap_.back());
  heap_.pop_back();
  return ready;
}

std::vector<Teams::Team*> Teams::HandOut() {
  std::vector<Team*> woken;
  while (!heap_.empty()) {
    const int idle = TakeIdle();
    if (idle < 0) break;
    teams_[idle]->buffer = Pop();
    woken.push_back(teams_[idle].get());
  }
  return woken;
}

int Teams::TakeIdle() {
  for (size_t word = 0; word < idle_.size(); ++word) {
    if (idle_[word] == 0) continue;
    const int bit = __builtin_ctzll(idle_[word]);
    idle_[word] &= idle_[word] - 1;
    return static_cast<int>(word) * kBits + bit;
  }
  return -1;
}

void Teams::SetIdle(int team) {
  idle_[team / kBits] |= uint64_t{1} << (team % kBits);
}

void Teams::ClearIdle(int team) {
  idle_[team / kBits] &= ~(uint64_t{1} << (team % kBits));
}

void Teams::Wake(const std::vector<Team*>& teams) {
  for (Team* team : teams) team->changed.notify_one();
}

Teams::Team*& Teams::OfThread() {
  static thread_local Team* team = nullptr;
  return team;
}

}  // namespace recursive_tf
