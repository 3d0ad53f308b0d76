#include "config/foreign_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>

#include "base/error.h"
#include "base/strings.h"
#include "config/check.h"
#include "config/docs.h"
#include "config/field.h"
#include "config/reader.h"
#include "config/yaml_file.h"
#include "config/yaml_reader.h"

namespace regard {
namespace {

// Writes keys and values as nested sections, in the order of the documentation.
std::string nested_yaml(const std::map<std::string, std::string>& values) {
  std::string text;
  std::vector<std::string_view> open_sections;
  const auto settings = all_settings();
  for (const auto& setting : settings) {
    const auto value = values.find(setting.key);
    if (value == values.end()) continue;
    const auto path = split(setting.key, '.');
    std::size_t shared = 0;  // number of sections of the path that are written already
    while (shared < open_sections.size() && open_sections[shared] == path[shared]) ++shared;
    bool begins_entry = false;  // true after the index of a list entry, for "- "
    for (auto depth = shared; depth < path.size(); ++depth) {
      if (path[depth] == "0") {
        begins_entry = true;
        continue;
      }
      const auto indent = std::string(2 * depth, ' ');
      const bool is_last = depth + 1 == path.size();
      text += begins_entry ? indent.substr(2) + "- " : indent;
      text += std::string(path[depth]) + (is_last ? ": " + value->second : ":") + "\n";
      begins_entry = false;
    }
    open_sections = path;
    open_sections.pop_back();
  }
  return text;
}

}  // namespace

void ForeignConversion::put(const std::string& key, const std::string& value) {
  // Words, numbers and flags need no quotes.
  const bool is_word = std::ranges::all_of(value, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
  });
  converted_[key] = is_word ? value : to_yaml(value);
}

void ForeignConversion::put_integer(const std::string& key, double value) {
  constexpr double max_exact = 1e15;  // below 2^53, the limit of exact integers in a double
  const bool is_whole = std::abs(value) <= max_exact && std::trunc(value) == value;
  converted_[key] = is_whole ? to_yaml(static_cast<std::int64_t>(value)) : to_yaml(value);
}

void ForeignConversion::put_tied(bool embeddings, bool output, const std::string& key) {
  if (embeddings && output) {
    put_flag("data.tokenizer.joint", true);
    put("model.tied_embeddings", "all");
  } else if (output) {
    put("model.tied_embeddings", "output");
  } else if (embeddings) {
    file_.note(key, "regard ties both embeddings only if the output layer is tied too");
  }
}

double ForeignConversion::take_larger(const Side& src, const Side& trg) {
  const auto src_value = file_.take_number(src.key, src.fallback);
  const auto trg_value = file_.take_number(trg.key, trg.fallback);
  const auto larger = std::max(src_value, trg_value);
  if (src_value != trg_value) {
    file_.note(src_value < trg_value ? src.key : trg.key,
               fmt::format("regard has one value for both sides, here {}", larger));
  }
  return larger;
}

Converted ForeignConversion::finish(
    const std::map<std::string, ForeignConfig::Unsupported>& unsupported) {
  file_.note_unread(unsupported);
  Converted converted{nested_yaml(converted_), file_.notes()};
  try {
    check_training_options(parse_options(converted.yaml, "converted"));
  } catch (const ConfigError& error) {
    converted.notes.push_back(std::string("to be fixed: ") + error.what());
  }
  auto comments = fmt::format("# Converted from {} by `regard config convert`.\n", name_);
  if (!converted.notes.empty()) comments += "# Keys that were not converted, or not exactly:\n";
  for (auto note : converted.notes) {
    for (std::size_t at = 0; (at = note.find('\n', at)) != std::string::npos; at += 3) {
      note.replace(at, 1, "\n#   ");
    }
    comments += "#   " + note + "\n";
  }
  converted.yaml = comments + converted.yaml;
  return converted;
}

namespace {

// Limits against YAML aliases, which can make a small file huge or a section contain itself.
constexpr std::size_t max_yaml_values = 10'000;
constexpr std::size_t max_list_length = 1'000;  // bytes
constexpr int max_yaml_depth = 64;

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

ForeignConfig::ForeignConfig(std::string_view text, std::string name) : name_(std::move(name)) {
  const auto root = load_yaml(text, name_);
  std::size_t visited = 0;
  const auto sections = root.IsMap() ? root : YAML::Node(YAML::NodeType::Map);
  walk(sections, "", [&](const std::string& key, const YAML::Node& node, int depth) {
    if (++visited > max_yaml_values || depth > max_yaml_depth) {
      throw ConfigError(
          "{}:{}: more than {} values or deeper than {} levels, too much for a configuration",
          name_, node.Mark().line + 1, max_yaml_values, max_yaml_depth);
    }
    if (node.IsMap()) return;
    values_[key] = {value_text(node), node.Mark().line + 1, node.IsNull(), false};
  });
}

std::vector<std::string> ForeignConfig::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_) keys.push_back(key);
  return keys;
}

std::optional<std::string> ForeignConfig::take(const std::string& key) {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return std::nullopt;
  entry->second.is_read = true;
  if (entry->second.is_null) return std::nullopt;
  return entry->second.text;
}

std::string ForeignConfig::take(const std::string& key, const std::string& fallback) {
  return take(key).value_or(fallback);
}

std::string ForeignConfig::take_lower(const std::string& key, const std::string& fallback) {
  return lower_ascii(take(key, fallback));
}

bool ForeignConfig::take_flag(const std::string& key, bool fallback) {
  const auto text = take(key);
  if (!text) return fallback;
  bool value = fallback;
  if (!from_yaml(*text, value)) note(key, "expected True or False");
  return value;
}

double ForeignConfig::take_number(const std::string& key, double fallback) {
  const auto text = take(key);
  if (!text) return fallback;
  double value = fallback;
  if (!from_yaml(*text, value)) note(key, "expected a number");
  return value;
}

std::string ForeignConfig::location_and_value(const std::string& key) const {
  const auto& value = values_.at(key);
  return fmt::format("{}:{}: {}: {}", name_, value.line, on_one_line(key), on_one_line(value.text));
}

void ForeignConfig::note(const std::string& key, const std::string& text) {
  if (!values_.contains(key)) return;
  std::pair note(values_.at(key).line, location_and_value(key) + ": " + text);
  if (std::ranges::count(notes_, note) == 0) notes_.push_back(std::move(note));
}

void ForeignConfig::note_unread(const std::map<std::string, Unsupported>& unsupported) {
  for (const auto& [key, value] : values_) {
    if (value.is_read || value.is_null) continue;
    Unsupported match = {"regard has no such option", ""};
    for (const auto& [prefix, entry] : unsupported) {
      if (key.starts_with(prefix)) match = entry;  // in the order of the map, the longest is last
    }
    const bool is_neutral = !match.neutral.empty() && lower_ascii(value.text) == match.neutral;
    if (!match.reason.empty() && !is_neutral) note(key, match.reason);
  }
}

std::vector<std::string> ForeignConfig::notes() const {
  auto sorted = notes_;
  std::ranges::stable_sort(sorted, {}, [](const auto& note) { return note.first; });
  std::vector<std::string> texts;
  texts.reserve(sorted.size());
  for (auto& [line, text] : sorted) texts.push_back(std::move(text));
  return texts;
}

}  // namespace regard
