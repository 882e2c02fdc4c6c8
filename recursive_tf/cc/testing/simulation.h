#ifndef RECURSIVE_TF_CC_TESTING_SIMULATION_H_
#define RECURSIVE_TF_CC_TESTING_SIMULATION_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace recursive_tf {

// Threads of which one runs at a time, from one point where it meets others to
// the next; which one goes on there, a seed says. So a seed is a schedule, and
// gives the same one again.
//
// What is simulated says where it meets others: simulated_std.h does so for
// mutexes, condition variables, atomics and threads. Memory is as if all
// threads had one processor: what a weaker order of memory does is for
// ThreadSanitizer.
//
// If nobody can go on, or nobody ever ends, the process says with which seed,
// and aborts.
class Simulation {
 public:
  explicit Simulation(uint64_t seed) : seed_(seed), random_(seed) {}
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // The one that the calling thread is in.
  static Simulation& Current() { return *Self()->simulation; }

  // Runs `body`, and all threads that it starts, until they have ended.
  void Run(const std::function<void()>& body) {
    Thread* const first = NewThread();
    Self() = first;
    body();
    WaitUntil([this] { return NumRunning() == 1; });
    Self() = nullptr;
    for (const auto& thread : threads_) {
      if (thread->real.joinable()) thread->real.join();
    }
  }

  // Starts a thread, and returns its number.
  int Start(std::function<void()> body) {
    Thread* const thread = NewThread();
    thread->real =
        std::thread([this, thread, body = std::move(body)]() mutable {
          Self() = thread;
          AwaitTurn(thread);
          body();
          body = nullptr;
          End(thread);
        });
    Meet();
    return thread->number;
  }

  void Join(int number) {
    WaitUntil([this, number] { return threads_[number]->has_ended; });
  }

  std::thread::id IdOf(int number) const {
    return threads_[number]->real.get_id();
  }

  // Lets others go first, perhaps.
  void Meet() { PassOn(Self()); }

  // Waits for what others do. `is_true` changes only where threads meet.
  void WaitUntil(const std::function<bool()>& is_true) {
    Thread* const self = Self();
    self->waits_for = &is_true;
    PassOn(self);
    self->waits_for = nullptr;
  }

  // Says that the calling thread looks at what others may change, or has
  // changed something: who only looks for a while lets all others go first.
  void Look() {
    Thread* const self = Self();
    if (self->seen != num_changes_) {
      self->seen = num_changes_;
      self->num_looks = 0;
    }
    ++self->num_looks;
    PassOn(self);
  }
  void Change() {
    ++num_changes_;
    PassOn(Self());
  }

  // Returns a number below `bound`.
  uint64_t Draw(uint64_t bound) { return random_() % bound; }
  bool DrawOneIn(uint64_t bound) { return Draw(bound) == 0; }

  // Returns a number that follows from who went on, wherever threads met.
  uint64_t schedule() const { return schedule_; }

 private:
  static constexpr int kManyLooks = 20;
  static constexpr int64_t kEndless = 10'000'000;

  struct Thread {
    Simulation* simulation = nullptr;
    int number = 0;
    std::thread real;
    std::condition_variable turn;
    bool is_next = false;
    bool has_ended = false;
    const std::function<bool()>* waits_for = nullptr;
    // How often it has looked since something changed.
    int64_t seen = 0;
    int num_looks = 0;
  };

  static Thread*& Self() {
    static thread_local Thread* self = nullptr;
    return self;
  }

  Thread* NewThread() {
    auto thread = std::make_unique<Thread>();
    thread->simulation = this;
    thread->number = static_cast<int>(threads_.size());
    threads_.push_back(std::move(thread));
    return threads_.back().get();
  }

  size_t NumRunning() const {
    size_t num_running = 0;
    for (const auto& thread : threads_) num_running += !thread->has_ended;
    return num_running;
  }

  void PassOn(Thread* self) {
    Thread* const next = Choose(self);
    if (next == self) return;
    Wake(next);
    AwaitTurn(self);
  }

  void End(Thread* self) {
    self->has_ended = true;
    Wake(Choose(self));
  }

  void Wake(Thread* next) {
    const std::lock_guard<std::mutex> lock(mu_);
    next->is_next = true;
    next->turn.notify_one();
  }

  void AwaitTurn(Thread* self) {
    std::unique_lock<std::mutex> lock(mu_);
    self->turn.wait(lock, [self] { return self->is_next; });
    self->is_next = false;
  }

  Thread* Choose(Thread* self) {
    if (++num_steps_ > kEndless) Abort("nobody ends");
    std::vector<Thread*> busy;
    std::vector<Thread*> looking;
    for (const auto& thread : threads_) {
      if (thread->has_ended) continue;
      if (thread->waits_for != nullptr && !(*thread->waits_for)()) continue;
      const bool only_looks =
          thread->seen == num_changes_ && thread->num_looks > kManyLooks;
      (only_looks ? looking : busy).push_back(thread.get());
    }
    if (busy.empty() && looking.empty()) Abort("nobody can go on");
    Thread* next = nullptr;
    if (!busy.empty()) {
      next = busy[Draw(busy.size())];
    } else {
      // What it waits for may be its own patience.
      next = looking.front();
      for (Thread* each : looking) next = each == self ? self : next;
    }
    schedule_ = schedule_ * 31 + static_cast<uint64_t>(next->number);
    return next;
  }

  [[noreturn]] void Abort(const char* what) const {
    std::fprintf(stderr, "RECURSIVE_TF_SCHEDULE=%llu: %s\n",
                 static_cast<unsigned long long>(seed_), what);
    std::abort();
  }

  const uint64_t seed_;
  std::mt19937_64 random_;
  // All that follows belongs to whoever has the turn.
  std::vector<std::unique_ptr<Thread>> threads_;
  int64_t num_changes_ = 0;
  int64_t num_steps_ = 0;
  uint64_t schedule_ = 0;
  // Of turns alone.
  std::mutex mu_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TESTING_SIMULATION_H_
