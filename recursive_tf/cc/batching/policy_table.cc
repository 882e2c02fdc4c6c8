#include "recursive_tf/cc/batching/policy_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>

#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"

namespace recursive_tf {
namespace {

constexpr char kFirstWord[] = "fsm";
constexpr std::array<const char*, 3> kEncodings = {"base", "max", "sort"};

// Reads "2,1:1". Returns whether that is what it is.
bool AddEntry(const std::string& text, PolicyTable* table) {
  std::istringstream words(text);
  FrontierState state;
  char separator = ',';
  while (separator == ',') {
    int32_t block = -1;
    if (!(words >> block >> separator) || block < 0) return false;
    state.push_back(block);
  }
  int32_t choice = -1;
  if (separator != ':' || !(words >> choice)) return false;
  // A state that lacks its choice is of another table.
  if (std::find(state.begin(), state.end(), choice) == state.end()) {
    return false;
  }
  return words.peek() == std::istringstream::traits_type::eof() &&
         table->choices.emplace(state, choice).second;
}

}  // namespace

std::optional<Encoding> EncodingOf(const std::string& name) {
  for (size_t i = 0; i < kEncodings.size(); ++i) {
    if (name == kEncodings[i]) return static_cast<Encoding>(i);
  }
  return std::nullopt;
}

FrontierState Encode(const Frontier& frontier, const BlockOrder& order,
                     Encoding encoding) {
  FrontierState state;
  for (int32_t block = 0; block < frontier.num_blocks(); ++block) {
    if (frontier.count(block) == 0) continue;
    if (!state.empty()) {
      const int32_t rank = order.rank(state.front());
      if (order.rank(block) > rank) continue;
      if (order.rank(block) < rank) state.clear();
    }
    state.push_back(block);
  }
  const auto more_wait = [&frontier](int32_t a, int32_t b) {
    return frontier.count(a) > frontier.count(b);
  };
  if (encoding == Encoding::kMax) {
    state.push_back(*std::min_element(state.begin(), state.end(), more_wait));
  }
  if (encoding == Encoding::kSort) {
    std::stable_sort(state.begin(), state.end(), more_wait);
  }
  return state;
}

std::string ToText(const PolicyTable& table) {
  std::ostringstream text;
  text << kFirstWord << ' ' << kEncodings[static_cast<size_t>(table.encoding)];
  for (const auto& [state, choice] : table.choices) {
    char separator = ' ';
    for (const int32_t block : state) {
      text << separator << block;
      separator = ',';
    }
    text << ':' << choice;
  }
  return text.str();
}

std::optional<PolicyTable> TableFromText(const std::string& text) {
  std::istringstream words(text);
  std::string first;
  std::string encoding;
  if (!(words >> first >> encoding) || first != kFirstWord) return std::nullopt;
  const std::optional<Encoding> known = EncodingOf(encoding);
  if (!known.has_value()) return std::nullopt;
  PolicyTable table{*known, {}};
  for (std::string entry; words >> entry;) {
    if (!AddEntry(entry, &table)) return std::nullopt;
  }
  return table;
}

}  // namespace recursive_tf
