#include "recursive_tf/cc/runtime/path.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/runtime/activation.h"

namespace recursive_tf {
namespace {

constexpr int32_t kF = 0;
constexpr int32_t kG = 1;

// A path, written from the outermost step to the innermost.
class Chain {
 public:
  static Chain Rooted(int32_t procedure) { return Chain(procedure, 0); }
  static Chain OfRow(int32_t row) { return Chain(kF, row); }

  // f, which calls itself at site 1, then at site 2, ...
  static Chain OfLength(int num_steps) {
    Chain chain = Rooted(kF);
    for (int site = 1; site < num_steps; ++site) chain.Call(site);
    return chain;
  }

  Chain& Call(int32_t site, int32_t procedure = kF, int32_t ordinal = 0) {
    steps_.push_back({procedure, site, ordinal});
    return *this;
  }

  std::string Path() const { return Format(/*mapped=*/false); }
  std::string MappedPath() const { return Format(/*mapped=*/true); }

 private:
  Chain(int32_t procedure, int32_t row) : steps_{{procedure, kRootSite, row}} {}

  std::string Format(bool mapped) const {
    return FormatPath(steps_, mapped, {"f", "g"});
  }

  std::vector<PathStep> steps_;
};

TEST(FormatPathTest, AnInvocationByTheRootCallIsTheProceduresName) {
  EXPECT_EQ(Chain::Rooted(kF).Path(), "f");
  EXPECT_EQ(Chain::Rooted(kG).Path(), "g");
}

TEST(FormatPathTest, ACallIsNamedByItsSite) {
  EXPECT_EQ(Chain::Rooted(kF).Call(1).Call(0).Path(), "f → call#1 → call#0");
}

TEST(FormatPathTest, AMappedRootCallNamesTheRow) {
  EXPECT_EQ(Chain::OfRow(3).MappedPath(), "f[row 3]");
  EXPECT_EQ(Chain::OfRow(3).Call(1).MappedPath(), "f[row 3] → call#1");
}

TEST(FormatPathTest, RowZeroIsNamedToo) {
  EXPECT_EQ(Chain::OfRow(0).MappedPath(), "f[row 0]");
}

TEST(FormatPathTest, AnotherProcedureIsNamedWhereItBegins) {
  EXPECT_EQ(Chain::Rooted(kF).Call(0, kG).Call(2, kG).Call(1, kF).Path(),
            "f → call#0 (g) → call#2 → call#1 (f)");
}

TEST(FormatPathTest, OnlyALaterRunOfASiteShowsItsOrdinal) {
  EXPECT_EQ(Chain::Rooted(kF).Call(4, kF, /*ordinal=*/0).Path(), "f → call#4");
  EXPECT_EQ(Chain::Rooted(kF).Call(4, kF, /*ordinal=*/1).Path(),
            "f → call#4[1]");
}

TEST(FormatPathTest, TheOrdinalStandsBeforeTheOtherProceduresName) {
  EXPECT_EQ(Chain::Rooted(kF).Call(4, kG, /*ordinal=*/25).Path(),
            "f → call#4[25] (g)");
}

TEST(FormatPathTest, TwelveStepsAreAllShown) {
  EXPECT_EQ(Chain::OfLength(12).Path(),
            "f → call#1 → call#2 → call#3 → call#4 → call#5 → call#6 → call#7 "
            "→ call#8 → call#9 → call#10 → call#11");
}

TEST(FormatPathTest, ThirteenStepsAreAllShownBecauseOneIsNotWorthHiding) {
  EXPECT_EQ(Chain::OfLength(13).Path(),
            "f → call#1 → call#2 → call#3 → call#4 → call#5 → call#6 → call#7 "
            "→ call#8 → call#9 → call#10 → call#11 → call#12");
}

TEST(FormatPathTest, FourteenStepsAreShortenedInTheMiddle) {
  EXPECT_EQ(Chain::OfLength(14).Path(),
            "f → call#1 → call#2 → call#3 → call#4 → call#5 → … (2 calls) … "
            "→ call#8 → call#9 → call#10 → call#11 → call#12 → call#13");
}

TEST(FormatPathTest, AMillionStepsShowSixAtEachEnd) {
  EXPECT_EQ(Chain::OfLength(1000000).Path(),
            "f → call#1 → call#2 → call#3 → call#4 → call#5 "
            "→ … (999988 calls) … → call#999994 → call#999995 → call#999996 "
            "→ call#999997 → call#999998 → call#999999");
}

TEST(FormatPathTest, TheFirstStepAfterTheGapStillNamesAnotherProcedure) {
  Chain chain = Chain::OfLength(8);
  for (int site = 8; site < 14; ++site) chain.Call(site, kG);
  EXPECT_EQ(chain.Path(),
            "f → call#1 → call#2 → call#3 → call#4 → call#5 → … (2 calls) … "
            "→ call#8 (g) → call#9 → call#10 → call#11 → call#12 → call#13");
}

}  // namespace
}  // namespace recursive_tf
