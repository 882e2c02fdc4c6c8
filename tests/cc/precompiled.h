// What tests of the core include most, and what takes longest to read: the
// compiler reads it once for all of them. Each includes it by itself as well.
#ifndef TESTS_CC_PRECOMPILED_H_
#define TESTS_CC_PRECOMPILED_H_

#include "gtest/gtest.h"

#endif  // TESTS_CC_PRECOMPILED_H_
