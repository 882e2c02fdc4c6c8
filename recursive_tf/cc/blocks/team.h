#ifndef RECURSIVE_TF_CC_BLOCKS_TEAM_H_
#define RECURSIVE_TF_CC_BLOCKS_TEAM_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace recursive_tf {

// Some threads that work on the parts of one job after the other, in lock step
// with the thread that leads them. Between two jobs they spin, so that a job of
// microseconds is worth sharing.
//
// The leader never waits for a thread that has not begun a part: members that
// the pool did not start yet, or that the machine does not run, are not missed,
// because the leader takes their parts. So a pool that is busy, or has one
// thread, makes a job slower and nothing wait. A member that finds nothing to
// do for a millisecond gives its thread back; the next job asks for it again.
//
// Thread safety: Run, Wake and Rest are for one thread at a time, the leader.
class Team {
 public:
  // Runs a function on another thread, some time or other.
  using Schedule = std::function<void(std::function<void()>)>;

  // `num_threads` counts the leader.
  Team(int num_threads, Schedule schedule);
  // Does not wait for members: they touch nothing that their leader owns.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int num_threads() const { return num_threads_; }

  // Calls work(part) for each part from 0 to num_parts - 1, and returns when
  // all have ended. Thread t prefers the parts p with p % num_threads() == t:
  // what a thread works on again and again stays in its cache. What a part
  // throws, the first if there are several, is thrown here when no part runs
  // any more; some that had not begun may be left out.
  template <typename Work>
  void Run(int64_t num_parts, const Work& work) {
    if (num_parts == 1 || num_threads_ == 1) {
      for (int64_t part = 0; part < num_parts; ++part) work(part);
      return;
    }
    RunShared(
        num_parts,
        [](const void* what, int64_t part) {
          (*static_cast<const Work*>(what))(part);
        },
        &work);
  }

  // While it lives, the leader does something else in the first job that
  // members share, once, before its own parts. What that throws is thrown as
  // what a part throws.
  class Meanwhile {
   public:
    Meanwhile(Team* team, std::function<void()> work) : team_(*team) {
      team_.meanwhile_ = std::move(work);
    }
    ~Meanwhile() { team_.meanwhile_ = nullptr; }
    Meanwhile(const Meanwhile&) = delete;
    Meanwhile& operator=(const Meanwhile&) = delete;

   private:
    Team& team_;
  };

  // Asks so many threads, the leader with them, to come before there is a job:
  // one that sleeps takes as long to wake up as a small launch to run.
  void Wake(int num_threads);

  // Returns how many threads there were parts for in the largest job since
  // Wake.
  int num_wanted() const { return num_wanted_; }

  // Asks members to give their threads back now, except for so many, because
  // something else may want them.
  void Rest(int num_awake = 0);

 private:
  using Call = void (*)(const void* work, int64_t part);

  // The parts that one thread prefers, and how many of them are taken.
  struct alignas(64) Queue {
    // The number of the job, of all parts, and of those taken; in one word, so
    // that nobody takes a part of a job that is over.
    std::atomic<uint64_t> ticket{0};
  };

  struct alignas(64) Member {
    // Whether a thread was asked for, and has not gone yet.
    std::atomic<bool> is_asked{false};
  };

  // What members share with the leader; it lives until the last has gone.
  struct State {
    explicit State(int num_threads)
        : queues(num_threads), members(num_threads) {}

    // Runs a part that is not taken; returns false if there is none.
    bool RunPart(int thread);
    bool TakeFrom(int queue, int64_t* part);
    void RunMember(int thread);
    // Remembers the exception that is being handled, if it is the first.
    void Fail();
    // Throws what a part of the job threw.
    void Rethrow();

    std::vector<Queue> queues;
    std::vector<Member> members;
    // Of the job: written before its tickets are.
    Call call = nullptr;
    const void* work = nullptr;
    // What a part threw, by whoever was the first to set `has_failed`.
    std::exception_ptr failure;
    std::atomic<bool> has_failed{false};
    alignas(64) std::atomic<int64_t> num_left{0};
    alignas(64) std::atomic<bool> is_over{false};
    // How many members may wait for a job: those of the first threads.
    std::atomic<int> num_awake{0};
  };

  void RunShared(int64_t num_parts, Call call, const void* work);
  void AskForMembers(int wanted);
  void DoMeanwhile();

  const int num_threads_;
  const Schedule schedule_;
  const std::shared_ptr<State> state_;
  std::function<void()> meanwhile_;
  uint64_t job_ = 0;
  int num_wanted_ = 1;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_TEAM_H_
