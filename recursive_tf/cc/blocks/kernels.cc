#include "recursive_tf/cc/blocks/kernels.h"

#include <optional>
#include <string>
#include <vector>

#include "recursive_tf/cc/blocks/kernel_sets.h"

namespace recursive_tf {
namespace {

std::vector<InstructionSet> Find() {
  std::vector<InstructionSet> found;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    found.push_back(InstructionSet::kAvx512);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    found.push_back(InstructionSet::kAvx2);
  }
#endif
  found.push_back(InstructionSet::kPortable);
  return found;
}

}  // namespace

const std::vector<InstructionSet>& InstructionSets() {
  static const auto* const sets = new std::vector<InstructionSet>(Find());
  return *sets;
}

std::optional<InstructionSet> InstructionSetOf(const std::string& name) {
  if (name.empty()) return InstructionSets().front();
  for (const InstructionSet set : InstructionSets()) {
    if (name == KernelsFor<float>(set).name) return set;
  }
  return std::nullopt;
}

template <typename T>
const Kernels<T>& KernelsFor(InstructionSet set) {
#ifdef __x86_64__
  if (set == InstructionSet::kAvx512) return Avx512Kernels<T>();
  if (set == InstructionSet::kAvx2) return Avx2Kernels<T>();
#endif
  return PortableKernels<T>();
}

template const Kernels<float>& KernelsFor<float>(InstructionSet set);
template const Kernels<double>& KernelsFor<double>(InstructionSet set);

}  // namespace recursive_tf
