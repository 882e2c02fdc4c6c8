#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "tests/cc/blocks/run_row.h"

namespace recursive_tf {
namespace {

constexpr int64_t kImages = 2;

// Windows that begin before the image, and end behind it, if there is padding.
WindowGrid GridOf(int64_t num_pixels, int64_t size, int64_t stride,
                  int64_t padding) {
  const int64_t reached = num_pixels + 2 * padding - size;
  return {num_pixels, reached / stride + 1, size, stride, padding};
}

// Small whole numbers, many of which are equal, so that sums are exact and the
// order of equal numbers matters.
template <typename T>
std::vector<T> Draw(int64_t count, std::mt19937* random) {
  std::uniform_int_distribution<int> distribution(-2, 2);
  std::vector<T> numbers(count);
  for (T& number : numbers) number = static_cast<T>(distribution(*random));
  return numbers;
}

template <typename T>
struct Case {
  Case(const WindowGrid& height, const WindowGrid& width, int64_t channels)
      : height(height),
        width(width),
        channels(channels),
        images(
            Draw<T>(kImages * height.num_pixels * width.num_pixels * channels,
                    &random)),
        gradient(
            Draw<T>(kImages * height.num_windows * width.num_windows * channels,
                    &random)) {}

  int64_t PixelOf(int64_t image, int64_t y, int64_t x) const {
    return ((image * height.num_pixels + y) * width.num_pixels + x) * channels;
  }

  // The place in the images of the first of the largest numbers of a window.
  int64_t LargestOf(int64_t image, int64_t y, int64_t x,
                    int64_t channel) const {
    int64_t largest = -1;
    for (int64_t i = 0; i < height.size; ++i) {
      for (int64_t j = 0; j < width.size; ++j) {
        const int64_t row = y * height.stride - height.padding + i;
        const int64_t column = x * width.stride - width.padding + j;
        if (row < 0 || row >= height.num_pixels) continue;
        if (column < 0 || column >= width.num_pixels) continue;
        const int64_t here = PixelOf(image, row, column) + channel;
        if (largest < 0 || images[here] > images[largest]) largest = here;
      }
    }
    return largest;
  }

  std::vector<T> Wanted(bool of_relu) const {
    std::vector<T> wanted(images.size(), T(0));
    const T* next = gradient.data();
    for (int64_t image = 0; image < kImages; ++image) {
      for (int64_t y = 0; y < height.num_windows; ++y) {
        for (int64_t x = 0; x < width.num_windows; ++x) {
          for (int64_t channel = 0; channel < channels; ++channel, ++next) {
            const int64_t largest = LargestOf(image, y, x, channel);
            if (!of_relu || images[largest] > 0) wanted[largest] += *next;
          }
        }
      }
    }
    return wanted;
  }

  // In parts of so many rows of pixels, the last first.
  std::vector<T> Found(const Kernels<T>& kernels, bool of_relu,
                       int64_t part) const {
    std::vector<T> found(images.size(), std::numeric_limits<T>::quiet_NaN());
    const int64_t num_rows = kImages * height.num_pixels;
    for (int64_t end = num_rows; end > 0; end -= part) {
      kernels.pool_gradient({height, width, channels, of_relu, images.data(),
                             gradient.data(), found.data(),
                             std::max<int64_t>(end - part, 0), end});
    }
    return found;
  }

  std::mt19937 random{7};
  WindowGrid height;
  WindowGrid width;
  int64_t channels;
  std::vector<T> images;
  std::vector<T> gradient;
};

template <typename T>
void CheckPools(const Kernels<T>& kernels, const WindowGrid& height,
                const WindowGrid& width) {
  for (const int64_t channels :
       {int64_t{1}, kernels.lanes, kernels.lanes + 3}) {
    const Case<T> checked(height, width, channels);
    for (const bool of_relu : {false, true}) {
      const std::vector<T> wanted = checked.Wanted(of_relu);
      for (const int64_t part : {1, 3, 100}) {
        EXPECT_EQ(checked.Found(kernels, of_relu, part), wanted)
            << height.num_pixels << " pixels, windows of " << height.size
            << " by " << width.size << " every " << height.stride << " from -"
            << height.padding << ", " << channels << " channels, " << part
            << " rows at a time" << (of_relu ? ", of a Relu" : "");
      }
    }
  }
}

TEST(KernelPoolsTest, TheFirstLargestNumberOfAWindowGetsItsGradient) {
  ForAllKernels([](const auto& kernels) {
    for (const int64_t num_pixels : {4, 7}) {
      for (int64_t size = 1; size <= 4; ++size) {
        for (int64_t stride = 1; stride <= 4; ++stride) {
          for (int64_t padding = 0; padding < size; ++padding) {
            CheckPools(kernels, GridOf(num_pixels, size, stride, padding),
                       GridOf(5, size, stride, padding));
          }
        }
      }
    }
  });
}

TEST(KernelPoolsTest, WindowsMayBeOfAnyHeightAndWidth) {
  ForAllKernels([](const auto& kernels) {
    CheckPools(kernels, GridOf(8, 2, 2, 0), GridOf(9, 3, 3, 0));
    CheckPools(kernels, GridOf(6, 1, 1, 0), GridOf(5, 5, 1, 0));
    CheckPools(kernels, GridOf(5, 4, 2, 1), GridOf(7, 2, 3, 0));
  });
}

template <typename T>
void CheckNan(const Kernels<T>& kernels) {
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  const WindowGrid height = {1, 1, 1, 1, 0};
  const WindowGrid width = {4, 2, 2, 2, 0};
  const std::vector<T> images = {kNaN, 1, 1, kNaN};
  const std::vector<T> gradient = {3, 5};
  for (const bool of_relu : {false, true}) {
    std::vector<T> found(4, kNaN);
    kernels.pool_gradient({height, width, 1, of_relu, images.data(),
                           gradient.data(), found.data(), 0, 1});
    const T of_nan = of_relu ? 0 : 3;
    EXPECT_EQ(found, (std::vector<T>{of_nan, 0, 5, 0}));
  }
}

TEST(KernelPoolsTest, NanIsTheLargestOnlyWhereItIsTheFirst) {
  ForAllKernels([](const auto& kernels) { CheckNan(kernels); });
}

}  // namespace
}  // namespace recursive_tf
