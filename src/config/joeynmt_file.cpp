#include "config/joeynmt_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "config/field.h"
#include "config/scalar.h"
#include "config/yaml_file.h"
#include "config/yaml_reader.h"

namespace regard {
namespace {

// Aliases can make endless ones of a few bytes.
constexpr std::size_t most_values = 10'000;

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
  }
  return text;
}

// action(key, node) for each value that is no section.
template <typename Action>
void walk(const YAML::Node& node, const std::string& key, const Action& action) {
  if (!node.IsMap()) return action(key, node);
  for (const auto& entry : node) {
    if (entry.first.IsScalar()) walk(entry.second, join_key(key, entry.first.Scalar()), action);
  }
}

}  // namespace

JoeyFile::JoeyFile(std::string_view text, std::string name) : name_(std::move(name)) {
  const auto root = load_yaml(text, name_);
  for (const std::string section : {"data", "model", "training"}) {
    if (root.IsMap() && root[section] && root[section].IsMap()) continue;
    throw ConfigError(
        "{}: no section `{}`: wanted a configuration of JoeyNMT's (sections data, model, training, "
        "testing)",
        name_, section);
  }
  walk(root, "", [&](const std::string& key, const YAML::Node& node) {
    if (values_.size() == most_values) {
      throw ConfigError("{}:{}: more than {} values, which is no configuration", name_,
                        node.Mark().line + 1, most_values);
    }
    const auto value = node.IsSequence() ? joined(node) : node.IsNull() ? "" : node.Scalar();
    values_[key] = {value, node.Mark().line + 1, node.IsNull(), false};
  });
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
  return fmt::format("{}:{}: {}: {}", name_, value.line, key, value.text);
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
