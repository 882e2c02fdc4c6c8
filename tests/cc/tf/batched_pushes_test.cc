#include "recursive_tf/cc/tf/batched_pushes.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/tape.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/push_table.h"
#include "recursive_tf/cc/tf/row_values.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tests/cc/tf/tensors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

using Floats = std::vector<float>;

// Two tables of four rows without dimensions; value 0 is 10, 20, 30.
class BatchedPushesTest : public testing::Test {
 protected:
  BatchedPushesTest() {
    for (const char* name : {"h", "c"}) {
      tables_.push_back(std::make_unique<PushTable>(
          name, 4, tf::DT_FLOAT, tf::PartialTensorShape({})));
    }
    values_.Add(VectorOf<float>({10, 20, 30}));
  }

  Floats Result(int table) {
    tf::Tensor result;
    EXPECT_TRUE(tables_[table]->Result(&result).ok());
    return ElementsOf<float>(result);
  }

  std::vector<std::unique_ptr<PushTable>> tables_;
  std::vector<PushedRows> taped_{2};
  RowValues values_;
  Team team_{1, nullptr};
};

TEST_F(BatchedPushesTest, RowsGoToTheirTablesWhenTheyAreFlushed) {
  BatchedPushes pushes(&tables_, nullptr);
  ASSERT_TRUE(pushes.Add(0, 3, {0, 1}).ok());
  ASSERT_TRUE(pushes.Add(1, 0, {0, 0}).ok());
  ASSERT_TRUE(pushes.Add(0, 1, {0, 2}).ok());
  ASSERT_TRUE(pushes.Flush(values_, &team_).ok());
  EXPECT_EQ(Result(0), (Floats{0, 30, 0, 20}));
  EXPECT_EQ(Result(1), (Floats{10, 0, 0, 0}));
}

TEST_F(BatchedPushesTest, ARowThatIsTakenIsRefusedAtOnce) {
  BatchedPushes pushes(&tables_, nullptr);
  ASSERT_TRUE(pushes.Add(0, 3, {0, 1}).ok());
  EXPECT_EQ(pushes.Add(0, 3, {0, 2}).code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(pushes.Flush(values_, &team_).ok());
  EXPECT_EQ(Result(0), (Floats{0, 0, 0, 20}));
}

TEST_F(BatchedPushesTest, AFlushCopiesWhatCameSinceTheLast) {
  BatchedPushes pushes(&tables_, &taped_);
  ASSERT_TRUE(pushes.Add(0, 3, {0, 1}).ok());
  ASSERT_TRUE(pushes.Flush(values_, &team_).ok());
  ASSERT_TRUE(pushes.Add(0, 2, {0, 0}).ok());
  ASSERT_TRUE(pushes.Flush(values_, &team_).ok());
  EXPECT_EQ(Result(0), (Floats{0, 0, 10, 20}));
}

TEST_F(BatchedPushesTest, OneRowMayGoToSeveral) {
  BatchedPushes pushes(&tables_, nullptr);
  ASSERT_TRUE(pushes.Add(0, 3, {0, 1}).ok());
  ASSERT_TRUE(pushes.Add(0, 2, {0, 1}).ok());
  ASSERT_TRUE(pushes.Add(0, 0, {0, 2}).ok());
  ASSERT_TRUE(pushes.Flush(values_, &team_).ok());
  EXPECT_EQ(Result(0), (Floats{30, 0, 20, 20}));
}

TEST_F(BatchedPushesTest, TheTapeHasAllThatWasPushed) {
  BatchedPushes pushes(&tables_, &taped_);
  ASSERT_TRUE(pushes.Add(1, 3, {0, 1}).ok());
  ASSERT_TRUE(pushes.Flush(values_, &team_).ok());
  ASSERT_TRUE(pushes.Add(1, 2, {0, 0}).ok());
  ASSERT_TRUE(pushes.Flush(values_, &team_).ok());
  EXPECT_EQ(taped_[1].indices, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(taped_[1].values.runs(),
            (std::vector<RowRun>{{0, 1, 1, 1}, {0, 0, 1, 1}}));
  EXPECT_TRUE(taped_[0].indices.empty());
}

}  // namespace
}  // namespace recursive_tf
