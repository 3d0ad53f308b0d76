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

// Aliases can make endless ones of a few bytes, and sections that hold themselves.
constexpr std::size_t most_values = 10'000;
constexpr std::size_t longest_list = 1'000;  // bytes
constexpr int deepest = 64;

std::string lower(std::string text) {
  for (auto& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string joined(const YAML::Node& list) {
  std::string text;
  for (const auto& entry : list) {
    text += (text.empty() ? "" : ", ") + (entry.IsScalar() ? entry.Scalar() : found_text(entry));
    if (text.size() > longest_list) return text + ", …";
  }
  return text;
}

std::string value_text(const YAML::Node& node) {
  if (node.IsSequence()) return joined(node);
  return node.IsNull() ? "" : node.Scalar();
}

// As it is, or quoted where it would break the line.
std::string in_a_line(const std::string& text) {
  const bool breaks = std::ranges::any_of(text, [](unsigned char c) { return c < ' '; });
  return breaks ? to_yaml(text) : text;
}

// visit(key, node, depth) for each section and value below this one.
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
    if (++visited > most_values || depth > deepest) {
      throw ConfigError("{}:{}: more than {} values, or deeper than {} levels: no configuration",
                        name_, node.Mark().line + 1, most_values, deepest);
    }
    if (node.IsMap()) return;
    values_[key] = {value_text(node), node.Mark().line + 1, node.IsNull(), false};
  });
  require_joeynmt(root, name_);
}

std::optional<std::string> JoeyFile::take(const std::string& key) {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  found->second.taken = true;
  if (found->second.is_null) return std::nullopt;
  return found->second.text;
}

std::string JoeyFile::take(const std::string& key, const std::string& otherwise) {
  return take(key).value_or(otherwise);
}

std::string JoeyFile::take_lower(const std::string& key, const std::string& otherwise) {
  return lower(take(key, otherwise));
}

bool JoeyFile::take_flag(const std::string& key, bool otherwise) {
  const auto text = take(key);
  if (!text) return otherwise;
  bool value = otherwise;
  if (!from_yaml(*text, value)) note(key, "wanted True or False");
  return value;
}

double JoeyFile::take_number(const std::string& key, double otherwise) {
  const auto text = take(key);
  if (!text) return otherwise;
  double value = otherwise;
  if (!from_yaml(*text, value)) note(key, "wanted a number");
  return value;
}

std::string JoeyFile::shown(const std::string& key) const {
  const auto& value = values_.at(key);
  return fmt::format("{}:{}: {}: {}", name_, value.line, in_a_line(key), in_a_line(value.text));
}

void JoeyFile::note(const std::string& key, const std::string& what) {
  if (!values_.contains(key)) return;
  notes_.emplace_back(values_.at(key).line, shown(key) + ": " + what);
}

void JoeyFile::note_left(const std::map<std::string, Left>& reasons) {
  for (const auto& [key, value] : values_) {
    if (value.taken || value.is_null) continue;
    Left left = {"regard has nothing of the kind", ""};
    for (const auto& [begin, reason] : reasons) {
      if (key.starts_with(begin)) left = reason;
    }
    const bool neutral = !left.neutral.empty() && lower(value.text) == left.neutral;
    if (!left.why.empty() && !neutral) note(key, left.why);
  }
}

std::vector<std::string> JoeyFile::notes() const {
  auto in_order = notes_;
  std::ranges::stable_sort(in_order, {}, [](const auto& note) { return note.first; });
  std::vector<std::string> texts;
  for (auto& [line, text] : in_order) texts.push_back(std::move(text));
  return texts;
}

}  // namespace regard
