#ifndef RECURSIVE_TF_CC_TF_RANDOM_ROWS_H_
#define RECURSIVE_TF_CC_TF_RANDOM_ROWS_H_

#include <algorithm>
#include <cstdint>

#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/kernels/random_op_cpu.h"
#include "tensorflow/core/kernels/random_ops_util.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/util/work_sharder.h"

namespace recursive_tf {

// Fills a row of so many numbers from its counter, two numbers, and key: the
// same, bit by bit, that TensorFlow's kernel draws.
template <typename Distribution, typename T>
void FillRandomRow(const uint64_t* counter, const uint64_t* key, int64_t size,
                   const Distribution& distribution, T* row) {
  constexpr int64_t kGroupSize = Distribution::kResultElementCount;
  using Task = tensorflow::functor::FillPhiloxRandomTask<
      Distribution, Distribution::kVariableSamplesPerOutput>;
  Task::Run(tensorflow::GetPhiloxRandomFromCounterKeyMem(counter, key), row,
            size, 0, (size + kGroupSize - 1) / kGroupSize, distribution);
}

// Fills each row of `output` from its key and counter.
//
// REQUIRES: `keys` is [N, 1] and `counters` is [N, 2] or wider, with N >= 1 the
// number of rows of `output`.
//
// Args:
//   distribution_of: Returns the distribution of a row.
template <typename Distribution, typename DistributionOf>
void FillRandomRows(tensorflow::OpKernelContext* ctx,
                    const tensorflow::Tensor& keys,
                    const tensorflow::Tensor& counters,
                    const DistributionOf& distribution_of,
                    tensorflow::Tensor* output) {
  constexpr int64_t kCostOfElement =
      tensorflow::random::PhiloxRandom::kElementCost +
      Distribution::kElementCost;
  const int64_t size = output->NumElements() / output->dim_size(0);
  const int64_t counter_width = counters.dim_size(1);
  const uint64_t* key = keys.flat<uint64_t>().data();
  const uint64_t* counter = counters.flat<uint64_t>().data();
  auto* first = output->flat<typename Distribution::ResultElementType>().data();
  const auto& workers = *ctx->device()->tensorflow_cpu_worker_threads();
  tensorflow::Shard(workers.num_threads, workers.workers, output->dim_size(0),
                    std::max<int64_t>(size, 1) * kCostOfElement,
                    [&](int64_t begin, int64_t end) {
                      for (int64_t row = begin; row < end; ++row) {
                        FillRandomRow(counter + (row * counter_width),
                                      key + row, size, distribution_of(row),
                                      first + (row * size));
                      }
                    });
}

// Writes what StatelessRandomGetKeyCounter makes of a seed.
//
// Args:
//   key: Gets one number.
//   counter: Gets two numbers.
inline void KeyAndCounterOf(uint64_t first, uint64_t second, uint64_t* key,
                            uint64_t* counter) {
  using tensorflow::random::PhiloxRandom;
  // TensorFlow's own, so that whoever draws need not know which part of a seed
  // is strong.
  PhiloxRandom::Key scrambler;
  scrambler[0] = 0x3ec8f720;
  scrambler[1] = 0x02461e29;
  PhiloxRandom::ResultType seed;
  tensorflow::Uint64ToUint32s(first, &seed[0], &seed[1]);
  tensorflow::Uint64ToUint32s(second, &seed[2], &seed[3]);
  const PhiloxRandom::ResultType mix = PhiloxRandom(seed, scrambler)();
  *key = tensorflow::Uint32sToUint64(mix[0], mix[1]);
  counter[0] = 0;
  counter[1] = tensorflow::Uint32sToUint64(mix[2], mix[3]);
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_RANDOM_ROWS_H_
