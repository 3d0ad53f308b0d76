#include "config/yaml_reader.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/suggest.h"
#include "config/docs.h"

namespace regard {

void ReadErrors::add(std::string_view message) {
  if (is_full()) return;
  if (!text_.empty()) text_ += '\n';
  text_ += message;
  if (++count_; is_full()) text_ += "\nand perhaps more; fix these first";
}

void ReadErrors::throw_if_any() const {
  if (!text_.empty()) throw ConfigError("{}", text_);
}

std::string unknown_key(const std::string& section, const std::string& name,
                        const std::vector<std::string>& known, bool in_full) {
  const std::string unknown = fmt::format("unknown key `{}`", join_key(section, name));
  if (name == "<<") return unknown + "; merge keys are not supported, write the keys out";
  const std::vector<std::string> keys = all_keys();
  const bool has_dots = name.find('.') != std::string::npos;
  if (has_dots && std::find(keys.begin(), keys.end(), name) != keys.end()) {
    return unknown + "; in a file, write nested sections instead of dots";
  }
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (const std::string& key : keys) names.push_back(key.substr(key.rfind('.') + 1));
  const auto suggest_key = [&](const std::string& meant) {
    const auto at = std::find(names.begin(), names.end(), meant) - names.begin();
    const std::string& key = keys[static_cast<std::size_t>(at)];
    const bool is_above = !section.empty() && key.find('.') == std::string::npos;
    return fmt::format("{}; did you mean {}`{}`?", unknown, is_above ? "the top-level key " : "",
                       key);
  };
  // First a usual name of the sides of a pair, then another toolkit's name of a key here, then the
  // same name in another section, then a similar name here, then a similar name anywhere.
  const auto suggest_here = [&](const std::string& meant) {
    return fmt::format("{}; did you mean `{}`?", unknown,
                       in_full ? join_key(section, meant) : meant);
  };
  const std::map<std::string, std::string> sides = {
      {"source", "src"}, {"target", "trg"}, {"tgt", "trg"}};
  if (const auto side = sides.find(name);
      side != sides.end() && std::find(known.begin(), known.end(), side->second) != known.end()) {
    return suggest_here(side->second);
  }
  const auto sibling = suggest(name, known);
  if (sibling && sibling->similarity <= Similarity::synonym) return suggest_here(sibling->word);
  if (std::find(names.begin(), names.end(), name) != names.end()) return suggest_key(name);
  if (sibling) return suggest_here(sibling->word);
  if (const auto meant = nearest(name, names)) return suggest_key(*meant);
  const std::string place = section.empty() ? "at the top" : fmt::format("in `{}`", section);
  return fmt::format("{}; the keys {} are {}; `regard config docs` lists all", unknown, place,
                     fmt::join(known, ", "));
}

std::string YamlReader::key_name(const YAML::Node& key, const ValueContext& section,
                                 std::map<std::string, int>& seen) {
  const int line = key.Mark().line;
  if (!key.IsScalar() || key.Scalar().empty()) {
    fail(line, section.key, fmt::format("found {}, expected the name of a key", node_text(key)));
    return "";
  }
  const std::string& name = key.Scalar();
  const auto [first, inserted] = seen.emplace(name, line);
  if (inserted) return name;
  const std::string before = has_lines_ ? fmt::format(", first on line {}", first->second + 1) : "";
  fail(line, "", fmt::format("key `{}` is set twice{}", join_key(section.key, name), before));
  return "";
}

void YamlReader::read_texts(std::vector<std::string>& texts, const YAML::Node& node,
                            const ValueContext& context) {
  const std::string expected = "a list of texts, as in [a, b]";
  if (!node.IsNull() && !node.IsSequence()) return mismatch(node, context, expected);
  texts.clear();
  for (const auto& entry : node) {
    if (errors_.is_full()) return;
    if (!entry.IsScalar()) {
      fail(entry.Mark().line, context.key,
           fmt::format("found {} in the list, expected a text", node_text(entry)));
      continue;
    }
    texts.push_back(entry.Scalar());
  }
}

std::string YamlReader::location(int line) const {
  return has_lines_ ? fmt::format("{}:{}", name_, line + 1) : name_;
}

void YamlReader::fail(int line, const std::string& key, const std::string& what) {
  errors_.add(location(line) + ": " + (key.empty() ? "" : key + ": ") + what);
}

void YamlReader::mismatch(const YAML::Node& node, const ValueContext& context,
                          const std::string& expected, const std::string& hint) {
  fail(context.line, context.key,
       fmt::format("found {}, expected {}{}", node_text(node), expected, hint));
}

std::string node_text(const YAML::Node& node) {
  if (node.IsSequence()) return "a list";
  if (node.IsMap()) return "a section";
  if (node.IsNull()) return "nothing";
  constexpr std::size_t longest = 200;  // bytes; a text file instead of YAML is one scalar
  auto text = node.Scalar();
  if (text.size() > longest) {
    auto end = longest;
    while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // inside a character
    text = text.substr(0, end) + "…";
  }
  return is_quoted(node) ? fmt::format("the text \"{}\"", text) : text;
}

bool is_quoted(const YAML::Node& node) {
  // yaml-cpp gives quoted scalars the tag "!".
  return node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str";
}

std::string limit_hint(const YAML::Node& node, Range range) {
  constexpr double max_exact = 9007199254740992.0;  // of from_yaml()
  double number = 0;
  if (is_quoted(node) || std::isfinite(range.max) || !from_yaml(node.Scalar(), number)) return "";
  if (number <= max_exact) return "";
  return fmt::format("; the largest is {}, in digits", std::numeric_limits<std::int64_t>::max());
}

}  // namespace regard
