#include "recursive_tf/cc/base/machine_memory.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

// A file with what a control group says of itself.
class GroupFile {
 public:
  explicit GroupFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("machine_memory_test." + std::to_string(getpid()))) {
    std::ofstream(path_) << text;
  }
  ~GroupFile() { std::filesystem::remove(path_); }
  GroupFile(const GroupFile&) = delete;
  GroupFile& operator=(const GroupFile&) = delete;

  std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
};

TEST(MachineMemoryTest, IsSomeOfTheMachinesOwn) {
  const int64_t machine = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<int64_t>(sysconf(_SC_PAGE_SIZE));
  EXPECT_GT(MachineMemory(), 0);
  EXPECT_LE(MachineMemory(), machine);
}

TEST(MachineMemoryTest, AGroupThatHasLessIsTheLimit) {
  const GroupFile group("104857600\n");
  EXPECT_EQ(WithinGroup(int64_t{17'179'869'184}, group.path()), 104857600);
}

TEST(MachineMemoryTest, AGroupThatHasMoreIsNoLimit) {
  const GroupFile group("9223372036854771712\n");
  EXPECT_EQ(WithinGroup(1000, group.path()), 1000);
}

TEST(MachineMemoryTest, AGroupWithoutALimitIsNoLimit) {
  for (const char* text : {"max\n", "", "0\n", "-1\n"}) {
    const GroupFile group(text);
    EXPECT_EQ(WithinGroup(1000, group.path()), 1000) << text;
  }
}

TEST(MachineMemoryTest, ANumberThatIsTooLargeIsNoLimit) {
  const GroupFile group("18446744073709551615\n");
  EXPECT_EQ(WithinGroup(1000, group.path()), 1000);
}

TEST(MachineMemoryTest, AMachineWithoutGroupsHasAllOfItsMemory) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(WithinGroup(kAll, "/there/is/no/such/file"), kAll);
}

}  // namespace
}  // namespace recursive_tf
