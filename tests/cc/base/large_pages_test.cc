#include "recursive_tf/cc/base/large_pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

TEST(LargePagesTest, WhatIsTakenIsAlignedAndClear) {
  for (const size_t size :
       {size_t{1}, LargePages::kSize, 3 * LargePages::kSize + 5}) {
    auto* const memory = static_cast<char*>(LargePages::Take(size));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % LargePages::kSize, 0);
    EXPECT_EQ(std::count(memory, memory + size, 0),
              static_cast<ptrdiff_t>(size));
    std::fill_n(memory, size, 'x');
    LargePages::Give(memory, size);
  }
}

TEST(LargePagesTest, GivesNoneWhereThereIsNone) {
  EXPECT_EQ(LargePages::Take(std::numeric_limits<size_t>::max() / 4), nullptr);
}

}  // namespace
}  // namespace recursive_tf
