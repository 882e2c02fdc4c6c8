#ifndef RECURSIVE_TF_CC_BLOCKS_POOL_INC_H_
#define RECURSIVE_TF_CC_BLOCKS_POOL_INC_H_

// The gradient of max pooling: each window looks for its largest number again.
// Included by kernels_inc.h alone, which says how.

#include "recursive_tf/cc/blocks/simd_inc.h"

namespace recursive_tf {
namespace {

struct PixelRange {
  int64_t begin;
  int64_t end;
};

// The pixels of a window that are in the image.
inline PixelRange PixelsOf(const WindowGrid& grid, int64_t window) {
  const int64_t begin = window * grid.stride - grid.padding;
  const int64_t end = begin + grid.size;
  return {begin < 0 ? 0 : begin, end > grid.num_pixels ? grid.num_pixels : end};
}

// The first window that reaches `pixel` or one behind it.
inline int64_t FirstWindowWith(const WindowGrid& grid, int64_t pixel) {
  const int64_t behind = pixel + grid.padding - grid.size;
  return behind < 0 ? 0 : behind / grid.stride + 1;
}

// A window of an image, and the rows of pixels that are filled.
template <typename T>
struct PoolWindow {
  PixelRange rows;
  PixelRange columns;
  PixelRange filled;
  // Numbers from a row of pixels to the next one.
  int64_t row_size;
  int64_t num_channels;
  bool of_relu;
  const T* image;
  T* gradients;
  const T* gradient;
};

// Whether windows share no pixel, and each pixel has one.
inline bool Tiles(const WindowGrid& grid) {
  return grid.stride == grid.size &&
         PixelsOf(grid, grid.num_windows - 1).end == grid.num_pixels;
}

// A vector of channels, or the first `count` of one. The size of a window is
// known when this is compiled, or 0. Where windows share pixels, gradients are
// added up; else they are set.
template <typename T, int kHeight, int kWidth, bool kAdds>
EIGEN_ALWAYS_INLINE void FillLanes(const PoolWindow<T>& window, int64_t channel,
                                   int64_t count) {
  using S = Simd<T>;
  const int64_t first = window.rows.begin * window.row_size +
                        window.columns.begin * window.num_channels + channel;
  const int64_t height =
      kHeight > 0 ? kHeight : window.rows.end - window.rows.begin;
  const int64_t width =
      kWidth > 0 ? kWidth : window.columns.end - window.columns.begin;
  // Where the largest number is, as pixels of the window are counted.
  auto place = S::Set(0);
  auto here = S::Set(0);
  const T* const pixels = window.image + first;
  auto largest = S::Load(pixels, count);
#pragma GCC unroll 3
  for (int64_t y = 0; y < height; ++y) {
#pragma GCC unroll 3
    for (int64_t x = 0; x < width; ++x) {
      const auto number = S::Load(
          pixels + y * window.row_size + x * window.num_channels, count);
      const auto is_larger = ei::pcmp_lt(largest, number);
      largest = ei::pselect(is_larger, number, largest);
      place = ei::pselect(is_larger, here, place);
      here = ei::padd(here, S::Set(1));
    }
  }
  auto gradient = S::Load(window.gradient + channel, count);
  if (window.of_relu) {
    gradient = ei::pand(ei::pcmp_lt(S::Set(0), largest), gradient);
  }
  T* const sums = window.gradients + first;
  here = S::Set(0);
#pragma GCC unroll 3
  for (int64_t y = 0; y < height; ++y) {
    const int64_t row = window.rows.begin + y;
    const bool is_filled =
        kHeight > 0 || (row >= window.filled.begin && row < window.filled.end);
#pragma GCC unroll 3
    for (int64_t x = 0; x < width; ++x) {
      T* const sum = sums + y * window.row_size + x * window.num_channels;
      auto added = ei::pand(ei::pcmp_eq(place, here), gradient);
      here = ei::padd(here, S::Set(1));
      if (!is_filled) continue;
      if (kAdds) added = ei::padd(S::Load(sum, count), added);
      S::Store(sum, added, count);
    }
  }
}

template <typename T, int kHeight, int kWidth, bool kAdds>
void FillWindow(const PoolWindow<T>& window) {
  constexpr int64_t kLanes = Simd<T>::kLanes;
  int64_t channel = 0;
  for (; channel + kLanes <= window.num_channels; channel += kLanes) {
    FillLanes<T, kHeight, kWidth, kAdds>(window, channel, kLanes);
  }
  if (channel < window.num_channels) {
    FillLanes<T, kHeight, kWidth, kAdds>(window, channel,
                                         window.num_channels - channel);
  }
}

template <typename T, bool kAdds>
void FillWindow(const PoolWindow<T>& window) {
  const int64_t height = window.rows.end - window.rows.begin;
  const int64_t width = window.columns.end - window.columns.begin;
  const bool is_whole = window.rows.begin >= window.filled.begin &&
                        window.rows.end <= window.filled.end;
  if (is_whole && height == 2 && width == 2) {
    FillWindow<T, 2, 2, kAdds>(window);
  } else if (is_whole && height == 3 && width == 3) {
    FillWindow<T, 3, 3, kAdds>(window);
  } else {
    FillWindow<T, 0, 0, kAdds>(window);
  }
}

template <typename T>
void FillImage(const PoolGradientWork<T>& work, int64_t image,
               const PixelRange& filled) {
  const int64_t row_size = work.width.num_pixels * work.num_channels;
  const int64_t image_size = work.height.num_pixels * row_size;
  PoolWindow<T> window;
  window.filled = filled;
  window.row_size = row_size;
  window.num_channels = work.num_channels;
  window.of_relu = work.of_relu;
  window.image = work.images + image * image_size;
  window.gradients = work.gradients + image * image_size;
  const bool adds = !Tiles(work.height) || !Tiles(work.width);
  if (adds) {
    const int64_t end = filled.end * row_size;
    for (int64_t i = filled.begin * row_size; i < end; ++i) {
      window.gradients[i] = 0;
    }
  }
  const int64_t num_windows = work.height.num_windows * work.width.num_windows;
  const T* const gradient =
      work.gradient + image * num_windows * work.num_channels;
  for (int64_t y = FirstWindowWith(work.height, filled.begin);
       y < work.height.num_windows; ++y) {
    window.rows = PixelsOf(work.height, y);
    if (window.rows.begin >= filled.end) break;
    for (int64_t x = 0; x < work.width.num_windows; ++x) {
      window.columns = PixelsOf(work.width, x);
      window.gradient =
          gradient + (y * work.width.num_windows + x) * work.num_channels;
      adds ? FillWindow<T, true>(window) : FillWindow<T, false>(window);
    }
  }
}

template <typename T>
void RunPoolGradient(const PoolGradientWork<T>& work) {
  const int64_t height = work.height.num_pixels;
  int64_t begin = work.begin;
  while (begin < work.end) {
    const int64_t image = begin / height;
    const int64_t first = begin % height;
    const int64_t rest = first + work.end - begin;
    FillImage(work, image, {first, rest < height ? rest : height});
    begin = (image + 1) * height;
  }
}

}  // namespace
}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_POOL_INC_H_
