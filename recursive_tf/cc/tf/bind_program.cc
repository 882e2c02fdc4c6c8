#include "recursive_tf/cc/tf/bind_program.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/tf/own_ops.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "recursive_tf/cc/tf/signature.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// A program within a program has a kernel of its own, which binds it.
bool CarriesAProgram(const tf::NodeDef& node) {
  return absl::StartsWith(node.op(), "RecursiveInvoke") ||
         node.op() == "RecursivePorts";
}

class Binder {
 public:
  Binder(const ProgramSpec& program, const RootTypes& types,
         const tf::FunctionLibraryDefinition& library)
      : program_(program), types_(types), library_(library) {}

  absl::Status Bind() {
    for (size_t i = 0; i < program_.functions.size(); ++i) {
      TF_RETURN_IF_ERROR(ReadSignature(i));
    }
    const Signature& entry = signatures_.front();
    if (entry.arguments != types_.arguments ||
        entry.results != types_.results) {
      return Wrong("its first procedure does not fit the call");
    }
    for (const std::string& function : program_.functions) Visit(function);
    while (!todo_.empty()) {
      const std::string name = std::move(todo_.back());
      todo_.pop_back();
      // TensorFlow says of a function in a body that it is not there.
      const tf::FunctionDef* function = library_.Find(name);
      if (function == nullptr) continue;
      for (const tf::NodeDef& node : function->node_def()) {
        TF_RETURN_IF_ERROR(Bind(node));
      }
    }
    return absl::OkStatus();
  }

 private:
  // Leaves what a procedure takes of its own: neither handle nor captures.
  absl::Status ReadSignature(size_t index) {
    Signature& own = signatures_.emplace_back();
    TF_RETURN_IF_ERROR(
        Signature::Of(program_.functions[index], library_, &own));
    const std::vector<int>& captures = program_.captures[index];
    if (own.arguments.size() < captures.size() + 1 ||
        own.arguments.front() != tf::DT_VARIANT) {
      return Wrong("a procedure takes too little");
    }
    const size_t first = own.arguments.size() - captures.size();
    for (size_t i = 0; i < captures.size(); ++i) {
      const auto capture = static_cast<size_t>(captures[i]);
      if (capture >= types_.captures.size() ||
          types_.captures[capture] != own.arguments[first + i]) {
        return Wrong("a procedure takes a capture that is not there");
      }
    }
    own.arguments.erase(own.arguments.begin() + static_cast<int64_t>(first),
                        own.arguments.end());
    own.arguments.erase(own.arguments.begin());
    return absl::OkStatus();
  }

  absl::Status Bind(const tf::NodeDef& node) {
    if (CarriesAProgram(node)) return absl::OkStatus();
    if (IsOwnOp(node.op())) return BindOwn(node);
    for (const auto& [name, value] : node.attr()) {
      if (value.has_func()) Visit(value.func().name());
      for (const tf::NameAttrList& function : value.list().func()) {
        Visit(function.name());
      }
    }
    return absl::OkStatus();
  }

  absl::Status BindOwn(const tf::NodeDef& node) {
    const tf::AttrSlice attributes(node);
    if (attributes.FindByString("callee") != nullptr) {
      return BindCall(attributes);
    }
    if (node.op() == "RecursivePush" || node.op() == "RecursivePushGradient") {
      tf::DataType type = tf::DT_INVALID;
      TF_RETURN_IF_ERROR(tf::GetNodeAttr(attributes, "T", &type));
      return BindSlot(attributes, types_.tables, type, "push");
    }
    if (node.op() == "RecursiveSink") {
      tf::DataTypeVector types;
      TF_RETURN_IF_ERROR(tf::GetNodeAttr(attributes, "T", &types));
      return BindSlot(attributes, types_.sinks, types, "sink");
    }
    return absl::OkStatus();
  }

  absl::Status BindCall(const tf::AttrSlice& attributes) {
    int32_t callee = 0;
    tf::DataTypeVector arguments;
    tf::DataTypeVector results;
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(attributes, "callee", &callee));
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(attributes, "Targs", &arguments));
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(attributes, "Toutputs", &results));
    if (static_cast<size_t>(callee) >= signatures_.size()) {
      return Wrong(absl::StrCat("a call is of procedure ", callee, " of ",
                                signatures_.size()));
    }
    const Signature& signature = signatures_[callee];
    if (signature.arguments == arguments && signature.results == results) {
      return absl::OkStatus();
    }
    return Wrong(absl::StrCat("a call of '", (*program_.names)[callee],
                              "' takes or gives other values than that"));
  }

  // `types` are those of each slot; one that is named must have `type`.
  template <typename Type>
  absl::Status BindSlot(const tf::AttrSlice& attributes,
                        const std::vector<Type>& types, const Type& type,
                        const char* what) {
    return BindSlot(attributes, types.data(), types.size(), type, what);
  }
  absl::Status BindSlot(const tf::AttrSlice& attributes,
                        const tf::DataTypeVector& types, tf::DataType type,
                        const char* what) {
    return BindSlot(attributes, types.data(), types.size(), type, what);
  }
  template <typename Type>
  absl::Status BindSlot(const tf::AttrSlice& attributes, const Type* types,
                        size_t num_slots, const Type& type, const char* what) {
    int32_t slot = 0;
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(attributes, "slot", &slot));
    if (static_cast<size_t>(slot) < num_slots && types[slot] == type) {
      return absl::OkStatus();
    }
    return Wrong(absl::StrCat("a ", what, " does not fit slot ", slot, " of ",
                              num_slots));
  }

  void Visit(const std::string& function) {
    if (seen_.insert(function).second) todo_.push_back(function);
  }

  absl::Status Wrong(const std::string& what) const {
    return Damaged(program_.names->front(), what);
  }

  const ProgramSpec& program_;
  const RootTypes& types_;
  const tf::FunctionLibraryDefinition& library_;
  std::vector<Signature> signatures_;
  std::set<std::string> seen_;
  std::vector<std::string> todo_;
};

}  // namespace

absl::Status BindProgram(const ProgramSpec& program, const RootTypes& types,
                         const tf::FunctionLibraryDefinition& library) {
  return Binder(program, types, library).Bind();
}

}  // namespace recursive_tf
