#include "recursive_tf/cc/kernels/recorded_launch_tensors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/batching/launch_reads.h"
#include "recursive_tf/cc/batching/recording.h"
#include "recursive_tf/cc/kernels/vectors.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

constexpr int64_t kLaunchColumns = 4;
constexpr int64_t kReadColumns = 3;
constexpr int64_t kRowColumns = 3;

template <typename T>
tf::Tensor MatrixOf(const std::vector<T>& values, int64_t num_columns) {
  tf::Tensor matrix(
      tf::DataTypeToEnum<T>::value,
      {static_cast<int64_t>(values.size()) / num_columns, num_columns});
  std::copy(values.begin(), values.end(), matrix.flat<T>().data());
  return matrix;
}

// Reads launches from matrices that may hold anything.
class LaunchReader {
 public:
  absl::Status Read(tf::OpKernelContext* ctx,
                    std::vector<std::vector<RecordedLaunch>>* runs) {
    std::vector<int64_t> num_launches;
    TF_RETURN_IF_ERROR(GetVector(ctx, 0, &num_launches));
    TF_RETURN_IF_ERROR(GetMatrix(ctx, 1, kLaunchColumns, &launches_));
    TF_RETURN_IF_ERROR(GetMatrix(ctx, 2, kReadColumns, &reads_));
    TF_RETURN_IF_ERROR(GetMatrix(ctx, 3, kRowColumns, &rows_));
    for (const int64_t count : num_launches) {
      num_variables_ = 0;
      if (!launches_.Has(count)) return Wrong("num_launches");
      std::vector<RecordedLaunch>& run = runs->emplace_back();
      for (int64_t i = 0; i < count; ++i) {
        TF_RETURN_IF_ERROR(ReadLaunch(&run.emplace_back()));
      }
    }
    if (!launches_.IsAtEnd()) return Wrong("num_launches");
    if (!reads_.IsAtEnd()) return Wrong("launches");
    return rows_.IsAtEnd() ? absl::OkStatus() : Wrong("reads");
  }

 private:
  // Rows of a matrix, one after the other.
  template <typename T>
  struct Matrix {
    bool Has(int64_t count) const {
      return count >= 0 && count <= num_rows - next;
    }
    bool IsAtEnd() const { return next == num_rows; }
    const T* Take() { return data + num_columns * next++; }

    const T* data = nullptr;
    int64_t num_rows = 0;
    int64_t num_columns = 0;
    int64_t next = 0;
  };

  template <typename T>
  static absl::Status GetMatrix(tf::OpKernelContext* ctx, int index,
                                int64_t num_columns, Matrix<T>* matrix) {
    const tf::Tensor& tensor = ctx->input(index);
    if (tensor.dims() != 2 || tensor.dim_size(1) != num_columns) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Input ", index, " is not of ", num_columns,
          " columns, but of shape ", tensor.shape().DebugString(), "."));
    }
    *matrix = {tensor.flat<T>().data(), tensor.dim_size(0), num_columns, 0};
    return absl::OkStatus();
  }

  absl::Status ReadLaunch(RecordedLaunch* launch) {
    const int32_t* const row = launches_.Take();
    launch->block = row[0];
    launch->is_compiled = row[1] != 0;
    launch->num_rows = row[2];
    const bool fits =
        launch->num_rows >= 0 &&
        launch->num_rows < std::numeric_limits<int32_t>::max() - num_variables_;
    if (!fits || !reads_.Has(row[3])) return Wrong("launches");
    for (int32_t i = 0; i < row[3]; ++i) {
      TF_RETURN_IF_ERROR(ReadRead(launch));
    }
    num_variables_ += launch->num_rows;
    return absl::OkStatus();
  }

  absl::Status ReadRead(RecordedLaunch* launch) {
    LaunchRead& read = launch->reads.emplace_back();
    const int64_t* const row = reads_.Take();
    read.bytes_per_row = row[0];
    read.is_joined = row[2] != 0;
    const int64_t count = row[1];
    const bool has_size =
        row[0] >= 0 && row[0] <= std::numeric_limits<int32_t>::max();
    if (!has_size || count < 1 || !rows_.Has(count)) return Wrong("reads");
    for (int64_t i = 0; i < count; ++i) {
      const int32_t* const each = rows_.Take();
      const bool is_reader = each[0] >= 0 && each[0] < launch->num_rows;
      const bool is_variable =
          each[1] >= ReadRow::kNoVariable && each[1] < num_variables_;
      if (!is_reader || !is_variable) return Wrong("read_rows");
      read.rows.push_back({each[0], each[1], each[2]});
    }
    return absl::OkStatus();
  }

  static absl::Status Wrong(const char* what) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", what, "' does not fit: these are no recorded launches."));
  }

  Matrix<int32_t> launches_;
  Matrix<int64_t> reads_;
  Matrix<int32_t> rows_;
  // Of the launches of the run so far.
  int32_t num_variables_ = 0;
};

}  // namespace

void SetRecordedLaunches(const std::vector<RecordedRun>& runs, int first_output,
                         tf::OpKernelContext* ctx) {
  std::vector<int64_t> num_launches;
  std::vector<int32_t> launches;
  std::vector<int64_t> reads;
  std::vector<int32_t> rows;
  for (const RecordedRun& run : runs) {
    num_launches.push_back(static_cast<int64_t>(run.launches.size()));
    for (const RecordedLaunch& launch : run.launches) {
      launches.insert(
          launches.end(),
          {launch.block, launch.is_compiled ? 1 : 0, launch.num_rows,
           static_cast<int32_t>(launch.reads.size())});
      for (const LaunchRead& read : launch.reads) {
        reads.insert(reads.end(), {read.bytes_per_row,
                                   static_cast<int64_t>(read.rows.size()),
                                   read.is_joined ? 1 : 0});
        for (const ReadRow& row : read.rows) {
          rows.insert(rows.end(), {row.reader, row.variable, row.output});
        }
      }
    }
  }
  ctx->set_output(first_output, VectorOf(num_launches));
  ctx->set_output(first_output + 1, MatrixOf(launches, kLaunchColumns));
  ctx->set_output(first_output + 2, MatrixOf(reads, kReadColumns));
  ctx->set_output(first_output + 3, MatrixOf(rows, kRowColumns));
}

absl::Status GetRecordedLaunches(
    tf::OpKernelContext* ctx, std::vector<std::vector<RecordedLaunch>>* runs) {
  return LaunchReader().Read(ctx, runs);
}

}  // namespace recursive_tf
