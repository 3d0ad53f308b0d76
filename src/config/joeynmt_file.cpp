#include "config/joeynmt_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "config/field.h"
#include "config/foreign_file.h"
#include "config/scalar.h"
#include "config/yaml_file.h"
#include "config/yaml_reader.h"

namespace regard {
namespace {

// Limits against aliases, which can make a small file huge or a section contain itself.
constexpr std::size_t max_values = 10'000;
constexpr std::size_t max_list_length = 1'000;  // bytes
constexpr int max_depth = 64;

std::string lower(std::string text) {
  for (auto& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string join_entries(const YAML::Node& list) {
  std::string text;
  for (const auto& entry : list) {
    text += (text.empty() ? "" : ", ") + (entry.IsScalar() ? entry.Scalar() : node_text(entry));
    if (text.size() > max_list_length) return text + ", …";
  }
  return text;
}

std::string value_text(const YAML::Node& node) {
  if (node.IsSequence()) return join_entries(node);
  return node.IsNull() ? "" : node.Scalar();
}

// Returns the text, quoted if it has control characters such as line feeds.
std::string on_one_line(const std::string& text) {
  const bool breaks = std::ranges::any_of(text, [](unsigned char c) { return c < ' '; });
  return breaks ? to_yaml(text) : text;
}

// Calls visit(key, node, depth) for each section and value below `section`.
template <typename Visit>
void walk(const YAML::Node& section, const std::string& key, const Visit& visit, int depth = 1) {
  for (const auto& entry : section) {
    if (!entry.first.IsScalar()) continue;
    const auto below = join_key(key, entry.first.Scalar());
    visit(below, entry.second, depth);
    if (entry.second.IsMap()) walk(entry.second, below, visit, depth + 1);
  }
}

}  // namespace

JoeyFile::JoeyFile(std::string_view text, std::string name) : name_(std::move(name)) {
  const auto root = load_yaml(text, name_);
  std::size_t visited = 0;
  const auto sections = root.IsMap() ? root : YAML::Node(YAML::NodeType::Map);
  walk(sections, "", [&](const std::string& key, const YAML::Node& node, int depth) {
    if (++visited > max_values || depth > max_depth) {
      throw ConfigError(
          "{}:{}: more than {} values or deeper than {} levels, too much for a configuration",
          name_, node.Mark().line + 1, max_values, max_depth);
    }
    if (node.IsMap()) return;
    values_[key] = {value_text(node), node.Mark().line + 1, node.IsNull(), false};
  });
  require_joeynmt(root, name_);
}

std::optional<std::string> JoeyFile::take(const std::string& key) {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return std::nullopt;
  entry->second.is_read = true;
  if (entry->second.is_null) return std::nullopt;
  return entry->second.text;
}

std::string JoeyFile::take(const std::string& key, const std::string& fallback) {
  return take(key).value_or(fallback);
}

std::string JoeyFile::take_lower(const std::string& key, const std::string& fallback) {
  return lower(take(key, fallback));
}

bool JoeyFile::take_flag(const std::string& key, bool fallback) {
  const auto text = take(key);
  if (!text) return fallback;
  bool value = fallback;
  if (!from_yaml(*text, value)) note(key, "expected True or False");
  return value;
}

double JoeyFile::take_number(const std::string& key, double fallback) {
  const auto text = take(key);
  if (!text) return fallback;
  double value = fallback;
  if (!from_yaml(*text, value)) note(key, "expected a number");
  return value;
}

std::string JoeyFile::location_and_value(const std::string& key) const {
  const auto& value = values_.at(key);
  return fmt::format("{}:{}: {}: {}", name_, value.line, on_one_line(key), on_one_line(value.text));
}

void JoeyFile::note(const std::string& key, const std::string& text) {
  if (!values_.contains(key)) return;
  notes_.emplace_back(values_.at(key).line, location_and_value(key) + ": " + text);
}

void JoeyFile::note_unread(const std::map<std::string, Unsupported>& unsupported) {
  for (const auto& [key, value] : values_) {
    if (value.is_read || value.is_null) continue;
    Unsupported match = {"regard has no such option", ""};
    for (const auto& [prefix, entry] : unsupported) {
      if (key.starts_with(prefix)) match = entry;
    }
    const bool is_neutral = !match.neutral.empty() && lower(value.text) == match.neutral;
    if (!match.reason.empty() && !is_neutral) note(key, match.reason);
  }
}

std::vector<std::string> JoeyFile::notes() const {
  auto sorted = notes_;
  std::ranges::stable_sort(sorted, {}, [](const auto& note) { return note.first; });
  std::vector<std::string> texts;
  for (auto& [line, text] : sorted) texts.push_back(std::move(text));
  return texts;
}

}  // namespace regard
