#include "model/attention/table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "model/attention/additive.h"
#include "model/attention/fixed_context.h"

namespace regard {
namespace {

using Make =
    std::function<std::shared_ptr<Attention>(std::int64_t, std::int64_t, const AttentionOptions&)>;

const std::vector<std::pair<std::string, Make>>& table() {
  static const std::vector<std::pair<std::string, Make>> kinds = {
      {"none", [](auto, auto, const auto& o) { return std::make_shared<NoAttention>(o); }},
      {"additive",
       [](auto D, auto C, const auto& o) { return std::make_shared<Additive>(D, C, o); }},
  };
  return kinds;
}

}  // namespace

std::vector<std::string> attention_kinds() {
  std::vector<std::string> names;
  for (const auto& [name, make] : table()) names.push_back(name);
  return names;
}

void check_attention_kind(const std::string& kind, const std::string& place) {
  const auto known = attention_kinds();
  if (std::ranges::find(known, kind) != known.end()) return;
  const auto near = nearest(kind, known);
  throw ConfigError("{}model.attention.kind: unknown kind `{}`{}; there are {}",
                    place.empty() ? "" : place + ": ", kind,
                    near ? fmt::format("; did you mean `{}`?", *near) : "", fmt::join(known, ", "));
}

std::shared_ptr<Attention> make_attention(std::int64_t query_size, std::int64_t state_size,
                                          const AttentionOptions& options) {
  check_attention_kind(options.kind);
  const auto is_wanted = [&](const auto& entry) { return entry.first == options.kind; };
  return std::ranges::find_if(table(), is_wanted)->second(query_size, state_size, options);
}

}  // namespace regard
