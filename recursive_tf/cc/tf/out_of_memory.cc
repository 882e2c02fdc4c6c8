#include "recursive_tf/cc/tf/out_of_memory.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

std::string Failed(const std::string& subgraph) {
  return absl::StrCat("SubGraph '", subgraph, "' failed: ");
}

absl::Status OutOfMemory(const std::string& where) {
  return absl::ResourceExhaustedError(absl::StrCat(
      where,
      "there is no memory left for what is computed at once. Call it for fewer "
      "rows, or pass options=rtf.Options(max_bytes=...) to the SubGraph, which "
      "ends a root call before it takes that much."));
}

}  // namespace

absl::Status StatusOfException(const std::string* subgraph) {
  const std::string where = subgraph == nullptr ? "" : Failed(*subgraph);
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return OutOfMemory(where);
  } catch (const std::length_error&) {
    // More than a container could ever hold.
    return OutOfMemory(where);
  } catch (const std::exception& other) {
    return absl::InternalError(absl::StrCat(where, other.what()));
  }
}

absl::Status OfSubGraph(const absl::Status& status,
                        const std::string& subgraph) {
  if (!absl::IsResourceExhausted(status)) return status;
  return tensorflow::errors::CreateWithUpdatedMessage(
      status, absl::StrCat(Failed(subgraph), status.message()));
}

}  // namespace recursive_tf
