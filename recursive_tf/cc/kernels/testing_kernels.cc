// What tests of failures ask for: faults where they want them, and a count of
// what is left afterwards.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/census.h"
#include "recursive_tf/cc/base/faults.h"
#include "recursive_tf/cc/kernels/vectors.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

class FaultsOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    std::string kind;
    int64_t nth = 0;
    OP_REQUIRES_OK(ctx, GetScalar<tf::tstring>(ctx, 0, &kind));
    OP_REQUIRES_OK(ctx, GetScalar<int64_t>(ctx, 1, &nth));
    const auto* const found = std::find(kKinds.begin(), kKinds.end(), kind);
    OP_REQUIRES(ctx, kind.empty() || found != kKinds.end(),
                absl::InvalidArgumentError(
                    absl::StrCat("No fault is a '", kind, "'.")));
    ctx->set_output(0, ScalarOf(Faults::Global().Clear()));
    if (kind.empty()) return;
    Faults::Global().Plant(static_cast<Faults::Kind>(found - kKinds.begin()),
                           nth);
  }

 private:
  // In the order of Faults::Kind.
  static constexpr std::array<const char*, Faults::kNumKinds> kKinds = {
      "activation", "launch",   "allocation", "cache put",
      "cache get",  "gradient", "deferred"};
};

class CensusOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    bool is_on = false;
    OP_REQUIRES_OK(ctx, GetScalar<bool>(ctx, 0, &is_on));
    Census::Global().set_is_on(is_on);
    std::vector<int64_t> counts;
    for (size_t kind = 0; kind < Census::kNumKinds; ++kind) {
      counts.push_back(Census::Global().Count(static_cast<Census::Kind>(kind)));
    }
    ctx->set_output(0, VectorOf(counts));
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursiveFaults").Device(tf::DEVICE_CPU),
                        FaultsOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveCensus").Device(tf::DEVICE_CPU),
                        CensusOp);

}  // namespace
}  // namespace recursive_tf
