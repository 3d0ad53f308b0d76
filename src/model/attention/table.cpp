#include "model/attention/table.h"

#include <fmt/ranges.h>

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

std::shared_ptr<Attention> make_attention(std::int64_t query_size, std::int64_t state_size,
                                          const AttentionOptions& options) {
  for (const auto& [name, make] : table()) {
    if (name == options.kind) return make(query_size, state_size, options);
  }
  const auto known = attention_kinds();
  const auto near = nearest(options.kind, known);
  throw ConfigError("model.attention.kind: unknown kind `{}`{}; there are {}", options.kind,
                    near ? fmt::format("; did you mean `{}`?", *near) : "", fmt::join(known, ", "));
}

}  // namespace regard
