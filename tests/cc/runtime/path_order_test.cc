#include "recursive_tf/cc/runtime/path_order.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/runtime/activation.h"

namespace recursive_tf {
namespace {

Activation Child(const Activation* parent, int site, int ordinal) {
  Activation child;
  child.parent = parent;
  child.site = site;
  child.ordinal = ordinal;
  child.depth = parent == nullptr ? 1 : parent->depth + 1;
  return child;
}

TEST(PathOrderTest, IsTheOrderInWhichCallsWouldBeMadeOneAfterTheOther) {
  const Activation row0 = Child(nullptr, kRootSite, 0);
  const Activation a = Child(&row0, 0, 0);
  const Activation a0 = Child(&a, 0, 0);
  const Activation a2 = Child(&a, 2, 0);
  const Activation b = Child(&row0, 1, 0);
  const Activation b_again = Child(&row0, 1, 1);
  const Activation b_again0 = Child(&b_again, 0, 0);
  const Activation row1 = Child(nullptr, kRootSite, 1);
  const std::vector<const Activation*> order = {
      &row0, &a, &a0, &a2, &b, &b_again, &b_again0, &row1};
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = 0; j < order.size(); ++j) {
      EXPECT_EQ(PathOrder::Of(*order[i]) < PathOrder::Of(*order[j]), i < j)
          << i << " and " << j;
    }
  }
}

TEST(PathOrderTest, KnowsNothingOfIdsOrProcedures) {
  Activation one = Child(nullptr, kRootSite, 0);
  Activation other = one;
  other.id = 7;
  other.procedure = 3;
  EXPECT_FALSE(PathOrder::Of(one) < PathOrder::Of(other));
  EXPECT_FALSE(PathOrder::Of(other) < PathOrder::Of(one));
}

TEST(PathOrderTest, ComparesPathsOfAHundredThousandSteps) {
  std::vector<Activation> chain(100000);
  for (size_t i = 0; i < chain.size(); ++i) {
    chain[i] = Child(i == 0 ? nullptr : &chain[i - 1], 0, 0);
  }
  const PathOrder deep = PathOrder::Of(chain.back());
  EXPECT_TRUE(PathOrder::Of(chain[chain.size() - 2]) < deep);
  EXPECT_FALSE(deep < PathOrder::Of(chain.front()));
}

TEST(PathOrderTest, ThePartsOfAnInvocationStandAtOnePlace) {
  const Activation front = Child(nullptr, kRootSite, 0);
  Activation body = Child(&front, kSharedSite, 0);
  body.depth = front.depth;
  const Activation first = Child(&body, 0, 0);
  const Activation second = Child(&body, 1, 0);
  EXPECT_FALSE(PathOrder::Of(front) < PathOrder::Of(body));
  EXPECT_FALSE(PathOrder::Of(body) < PathOrder::Of(front));
  EXPECT_TRUE(PathOrder::Of(body) < PathOrder::Of(first));
  EXPECT_TRUE(PathOrder::Of(first) < PathOrder::Of(second));
}

}  // namespace
}  // namespace recursive_tf
