#include "recursive_tf/cc/runtime/helped_work.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

// A tree of work: each piece adds two, and the last one to end says so.
class Tree {
 public:
  explicit Tree(std::shared_ptr<HelpedWork> work) : work_(std::move(work)) {}

  void Grow(int height) {
    ++num_open_;
    work_->Add([this, height] {
      for (int i = 0; i < 2 && height > 0; ++i) Grow(height - 1);
      ++num_done_;
      if (--num_open_ == 0) work_->End();
    });
  }

  int num_done() const { return num_done_; }

 private:
  const std::shared_ptr<HelpedWork> work_;
  std::atomic<int> num_open_ = 0;
  std::atomic<int> num_done_ = 0;
};

constexpr int kHeight = 9;
constexpr int kPieces = (1 << (kHeight + 1)) - 1;

TEST(HelpedWorkTest, EndsThoughNobodyHelps) {
  std::vector<std::function<void()>> never;
  const auto work = HelpedWork::With(
      [&never](HelpedWork::Work help) { never.push_back(std::move(help)); },
      /*most_helpers=*/3);
  Tree tree(work);
  tree.Grow(kHeight);
  work->WorkUntilEnd();
  EXPECT_EQ(tree.num_done(), kPieces);
  EXPECT_EQ(never.size(), 3U);
  // Who comes when all is over finds nothing to do.
  for (const auto& help : never) help();
  EXPECT_EQ(tree.num_done(), kPieces);
}

TEST(HelpedWorkTest, HelpersMayRunWhatTheyAreAskedForAtOnce) {
  const auto work =
      HelpedWork::With([](const HelpedWork::Work& help) { help(); },
                       /*most_helpers=*/1);
  Tree tree(work);
  tree.Grow(kHeight);
  work->WorkUntilEnd();
  EXPECT_EQ(tree.num_done(), kPieces);
}

TEST(HelpedWorkTest, ThreadsHelp) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    std::mutex mu;
    const auto work = HelpedWork::With(
        [&](HelpedWork::Work help) {
          const std::lock_guard<std::mutex> lock(mu);
          if (threads.size() < 50) threads.emplace_back(std::move(help));
        },
        /*most_helpers=*/3);
    Tree tree(work);
    tree.Grow(kHeight);
    work->WorkUntilEnd();
    EXPECT_EQ(tree.num_done(), kPieces);
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(HelpedWorkTest, WaitsForAHelperWhoAddsMore) {
  std::mutex mu;
  std::vector<std::thread> threads;
  const auto work = HelpedWork::With(
      [&](HelpedWork::Work help) {
        const std::lock_guard<std::mutex> lock(mu);
        if (threads.empty()) threads.emplace_back(std::move(help));
      },
      /*most_helpers=*/1);
  std::atomic<bool> has_begun = false;
  std::atomic<int> num_done = 0;
  work->Add([&] {
    has_begun = true;
    std::this_thread::yield();
    work->Add([&] {
      ++num_done;
      work->End();
    });
  });
  while (!has_begun) std::this_thread::yield();
  work->WorkUntilEnd();
  EXPECT_EQ(num_done, 1);
  for (std::thread& thread : threads) thread.join();
}

TEST(HelpedWorkTest, AHelperStaysWhileThereIsWorkAndIsThenAskedForAgain) {
  std::vector<HelpedWork::Work> asked;
  int num_done = 0;
  const auto work = HelpedWork::With(
      [&](HelpedWork::Work help) { asked.push_back(std::move(help)); },
      /*most_helpers=*/1);
  for (int i = 0; i < 3; ++i) work->Add([&] { ++num_done; });
  ASSERT_EQ(asked.size(), 1U);
  asked.back()();
  EXPECT_EQ(num_done, 3);
  work->Add([&] { ++num_done; });
  ASSERT_EQ(asked.size(), 2U);
  asked.back()();
  EXPECT_EQ(num_done, 4);
  work->End();
  work->WorkUntilEnd();
}

}  // namespace
}  // namespace recursive_tf
