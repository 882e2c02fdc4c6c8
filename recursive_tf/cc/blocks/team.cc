#include "recursive_tf/cc/blocks/team.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace recursive_tf {
namespace {

// A ticket: 24 bits for the job, 20 each for all parts of a queue and those
// that are taken.
constexpr uint64_t kPartBits = 20;
constexpr uint64_t kPartMask = (uint64_t{1} << kPartBits) - 1;

uint64_t TicketOf(uint64_t job, uint64_t num_parts) {
  return (job << (2 * kPartBits)) | (num_parts << kPartBits);
}

// Who waits spins at first, then lets others run in between.
class Patience {
 public:
  void Wait() {
    if (++turns_ < kSpins) {
#ifdef __x86_64__
      __builtin_ia32_pause();
#endif
      return;
    }
    if (turns_ == kSpins) until_ = Clock::now() + kLongest;
    sched_yield();
  }

  // Returns whether that was long: the next launch, or the next op of a step,
  // comes sooner mostly.
  bool IsOver() const { return turns_ >= kSpins && Clock::now() > until_; }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr int kSpins = 1000;
  static constexpr std::chrono::microseconds kLongest{1000};

  int turns_ = 0;
  Clock::time_point until_;
};

// Returns whether there was memory to ask for a thread. Without it, it is one
// that never starts: others may have begun, so the job must go on.
bool TryTo(const Team::Schedule& schedule, std::function<void()> run) {
  try {
    schedule(std::move(run));
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

Team::Team(int num_threads, Schedule schedule)
    : num_threads_(std::max(num_threads, 1)),
      schedule_(std::move(schedule)),
      state_(std::make_shared<State>(num_threads_)) {}

Team::~Team() { state_->is_over.store(true, std::memory_order_release); }

void Team::Wake(int num_threads) {
  num_wanted_ = 1;
  AskForMembers(std::min(num_threads, num_threads_));
}

void Team::Rest(int num_awake) {
  if (num_threads_ > 1) {
    state_->num_awake.store(num_awake, std::memory_order_release);
  }
}

void Team::RunShared(int64_t num_parts, Call call, const void* work) {
  State& state = *state_;
  state.call = call;
  state.work = work;
  state.num_left.store(num_parts, std::memory_order_relaxed);
  ++job_;
  for (int queue = 0; queue < num_threads_; ++queue) {
    const int64_t rest = num_parts - queue;
    const int64_t mine =
        rest > 0 ? (rest + num_threads_ - 1) / num_threads_ : 0;
    state.queues[queue].ticket.store(TicketOf(job_, mine),
                                     std::memory_order_release);
  }
  const auto wanted =
      static_cast<int>(std::min<int64_t>(num_parts, num_threads_));
  num_wanted_ = std::max(num_wanted_, wanted);
  AskForMembers(wanted);
  DoMeanwhile();
  while (state.RunPart(0)) {
  }
  Patience patience;
  while (state.num_left.load(std::memory_order_acquire) > 0) patience.Wait();
  if (state.has_failed.load(std::memory_order_relaxed)) state.Rethrow();
}

void Team::DoMeanwhile() {
  if (!meanwhile_) return;
  try {
    std::exchange(meanwhile_, nullptr)();
  } catch (...) {
    state_->Fail();
  }
}

void Team::State::Fail() {
  if (!has_failed.exchange(true, std::memory_order_relaxed)) {
    failure = std::current_exception();
  }
}

void Team::State::Rethrow() {
  has_failed.store(false, std::memory_order_relaxed);
  std::rethrow_exception(std::exchange(failure, nullptr));
}

void Team::AskForMembers(int wanted) {
  state_->num_awake.store(num_threads_, std::memory_order_relaxed);
  for (int thread = 1; thread < wanted; ++thread) {
    std::atomic<bool>& is_asked = state_->members[thread].is_asked;
    if (is_asked.load(std::memory_order_acquire)) continue;
    is_asked.store(true, std::memory_order_relaxed);
    if (!TryTo(schedule_,
               [state = state_, thread] { state->RunMember(thread); })) {
      is_asked.store(false, std::memory_order_relaxed);
      break;
    }
  }
}

bool Team::State::TakeFrom(int queue, int64_t* part) {
  std::atomic<uint64_t>& ticket = queues[queue].ticket;
  uint64_t seen = ticket.load(std::memory_order_acquire);
  while ((seen & kPartMask) < ((seen >> kPartBits) & kPartMask)) {
    if (ticket.compare_exchange_weak(seen, seen + 1,
                                     std::memory_order_acq_rel)) {
      const auto taken = static_cast<int64_t>(seen & kPartMask);
      *part = queue + taken * static_cast<int64_t>(queues.size());
      return true;
    }
  }
  return false;
}

bool Team::State::RunPart(int thread) {
  const auto num_queues = static_cast<int>(queues.size());
  for (int i = 0; i < num_queues; ++i) {
    int64_t part = 0;
    if (!TakeFrom((thread + i) % num_queues, &part)) continue;
    try {
      call(work, part);
    } catch (...) {
      Fail();
    }
    // Not before, also if it failed: the leader may go then, and take along
    // what `work` is and what was thrown.
    num_left.fetch_sub(1, std::memory_order_release);
    return true;
  }
  return false;
}

void Team::State::RunMember(int thread) {
  Patience patience;
  while (!patience.IsOver() && !is_over.load(std::memory_order_acquire) &&
         thread <= num_awake.load(std::memory_order_relaxed)) {
    if (RunPart(thread)) {
      patience = Patience();
    } else {
      patience.Wait();
    }
  }
  members[thread].is_asked.store(false, std::memory_order_release);
}

}  // namespace recursive_tf
