#include "recursive_tf/cc/tf/chosen_kernels.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "tensorflow/core/util/env_var.h"

namespace recursive_tf {
namespace {

constexpr char kEnvironmentVariable[] = "RTF_INSTRUCTION_SET";

std::string GivenName() {
  std::string name;
  if (!tensorflow::ReadStringFromEnvVar(kEnvironmentVariable, "", &name).ok()) {
    name.clear();
  }
  return name;
}

}  // namespace

InstructionSet ChosenSet() {
  static const InstructionSet chosen =
      InstructionSetOf(GivenName()).value_or(InstructionSets().front());
  return chosen;
}

absl::Status CheckChosenSet() {
  const std::string name = GivenName();
  if (InstructionSetOf(name).has_value()) return absl::OkStatus();
  const auto add_name = [](std::string* text, InstructionSet set) {
    absl::StrAppend(text, "'", KernelsFor<float>(set).name, "'");
  };
  return absl::InvalidArgumentError(absl::StrCat(
      "The environment variable ", kEnvironmentVariable, " is '", name,
      "', but the instruction sets that this processor and recursive_tf both "
      "have are ",
      absl::StrJoin(InstructionSets(), ", ", add_name),
      ". Set it to one of these, or unset it: then the first is taken, which "
      "is the best."));
}

}  // namespace recursive_tf

const char* recursive_tf_wrong_instruction_set() {
  static thread_local std::string message;
  message = std::string(recursive_tf::CheckChosenSet().message());
  return message.empty() ? nullptr : message.c_str();
}
