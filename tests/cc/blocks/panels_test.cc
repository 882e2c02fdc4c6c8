#include "recursive_tf/cc/blocks/panels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

int64_t VectorsOf(const ColumnPart& part) {
  int64_t num_vectors = 0;
  for (const Panel& panel : part.panels) num_vectors += panel.num_vectors;
  return num_vectors;
}

// Calls check(parts, width, num_parts, lanes, max_vectors) for many of these.
template <typename CheckParts>
void ForMany(const CheckParts& check) {
  for (const int64_t lanes : {2, 8, 16}) {
    for (const int64_t max_vectors : {2, 4}) {
      for (const int64_t num_parts : {1, 2, 3, 16}) {
        for (int64_t width = 1; width <= 11 * lanes + 1; ++width) {
          SCOPED_TRACE(testing::Message()
                       << width << " columns, " << num_parts << " parts, "
                       << lanes << " lanes, " << max_vectors << " vectors");
          check(SplitColumns(width, num_parts, lanes, max_vectors), width,
                num_parts, lanes, max_vectors);
        }
      }
    }
  }
}

TEST(PanelsTest, EachColumnIsInOnePanelOfOnePart) {
  ForMany([](const std::vector<ColumnPart>& parts, int64_t width, int64_t,
             int64_t, int64_t) {
    int64_t column = 0;
    for (const ColumnPart& part : parts) {
      EXPECT_EQ(part.first_column, column);
      for (const Panel& panel : part.panels) {
        EXPECT_EQ(panel.first_column, column);
        EXPECT_GT(panel.num_columns, 0);
        column += panel.num_columns;
      }
      EXPECT_EQ(part.first_column + part.num_columns, column);
    }
    EXPECT_EQ(column, width);
  });
}

TEST(PanelsTest, PanelsAreOfWholeVectorsButForTheLast) {
  ForMany([](const std::vector<ColumnPart>& parts, int64_t width, int64_t,
             int64_t lanes, int64_t max_vectors) {
    for (const ColumnPart& part : parts) {
      for (const Panel& panel : part.panels) {
        EXPECT_EQ(panel.first_column % lanes, 0);
        EXPECT_LE(panel.num_vectors, max_vectors);
        const bool is_last = panel.first_column + panel.num_columns == width;
        const int64_t held = panel.num_vectors * lanes;
        if (is_last) {
          EXPECT_GT(panel.num_columns, held - lanes);
          EXPECT_LE(panel.num_columns, held);
        } else {
          EXPECT_EQ(panel.num_columns, held);
        }
      }
    }
  });
}

TEST(PanelsTest, ThereAreNoMorePanelsThanItTakes) {
  ForMany([](const std::vector<ColumnPart>& parts, int64_t, int64_t, int64_t,
             int64_t max_vectors) {
    for (const ColumnPart& part : parts) {
      EXPECT_EQ(static_cast<int64_t>(part.panels.size()),
                (VectorsOf(part) + max_vectors - 1) / max_vectors);
    }
  });
}

TEST(PanelsTest, PartsAreOfAboutAsManyVectors) {
  ForMany([](const std::vector<ColumnPart>& parts, int64_t width,
             int64_t num_parts, int64_t lanes, int64_t) {
    const int64_t num_vectors = (width + lanes - 1) / lanes;
    EXPECT_EQ(static_cast<int64_t>(parts.size()),
              std::min(num_parts, num_vectors));
    int64_t least = num_vectors;
    int64_t most = 0;
    for (const ColumnPart& part : parts) {
      least = std::min(least, VectorsOf(part));
      most = std::max(most, VectorsOf(part));
    }
    EXPECT_LE(most - least, 1);
  });
}

TEST(PanelsTest, PanelsOfAPartAreOfAboutAsManyVectors) {
  // Five vectors are three and two, not four and one, which would be slow.
  const std::vector<ColumnPart> parts = SplitColumns(40, 1, 8, 4);
  ASSERT_EQ(parts.size(), 1U);
  ASSERT_EQ(parts[0].panels.size(), 2U);
  EXPECT_EQ(parts[0].panels[0].num_vectors, 2);
  EXPECT_EQ(parts[0].panels[1].num_vectors, 3);
}

TEST(PanelsTest, PanelsOfTwoTilesAreTwoPanelsSideBySide) {
  for (const int64_t num_parts : {1, 2}) {
    for (int64_t width = 1; width <= 200; ++width) {
      SCOPED_TRACE(testing::Message() << width << " columns");
      const std::vector<ColumnPart> of_one =
          SplitColumns(width, num_parts, 8, 4);
      const std::vector<ColumnPart> of_two =
          SplitColumns(width, num_parts, 8, 4, /*tiles_of_panel=*/2);
      ASSERT_EQ(of_two.size(), of_one.size());
      for (size_t part = 0; part < of_two.size(); ++part) {
        EXPECT_EQ(of_two[part].num_columns, of_one[part].num_columns);
        const std::vector<Panel>& tiles = of_one[part].panels;
        ASSERT_EQ(of_two[part].panels.size(), (tiles.size() + 1) / 2);
        for (size_t i = 0; i < of_two[part].panels.size(); ++i) {
          const Panel& panel = of_two[part].panels[i];
          EXPECT_EQ(panel.first_column, tiles[2 * i].first_column);
          const bool is_alone = 2 * i + 1 == tiles.size();
          EXPECT_EQ(panel.num_vectors,
                    tiles[2 * i].num_vectors +
                        (is_alone ? 0 : tiles[2 * i + 1].num_vectors));
          EXPECT_EQ(panel.num_columns,
                    tiles[2 * i].num_columns +
                        (is_alone ? 0 : tiles[2 * i + 1].num_columns));
        }
      }
    }
  }
}

}  // namespace
}  // namespace recursive_tf
