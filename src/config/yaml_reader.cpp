#include "config/yaml_reader.h"

#include "base/error.h"
#include "base/suggest.h"
#include "config/reader.h"

namespace regard {

void Problems::add(std::string_view message) {
  if (enough()) return;
  if (!text_.empty()) text_ += '\n';
  text_ += message;
  if (++count_; enough()) text_ += "\nand perhaps more: mend these first";
}

void Problems::throw_if_any() const {
  if (!text_.empty()) throw ConfigError("{}", text_);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto meant = nearest(word, known);
  return meant ? fmt::format("; did you mean `{}`?", *meant) : "";
}

std::string unknown_key(const std::string& section, const std::string& name,
                        const std::vector<std::string>& known, bool in_full) {
  const std::string unknown = fmt::format("unknown key `{}`", join_key(section, name));
  if (name == "<<") return unknown + "; merge keys are not supported, write the keys out";
  const std::vector<std::string> keys = all_keys();
  if (std::find(keys.begin(), keys.end(), name) != keys.end()) {
    return unknown + "; in a file, sections stand one in the other, without dots";
  }
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (const std::string& key : keys) names.push_back(key.substr(key.rfind('.') + 1));
  const auto elsewhere = [&](const std::string& meant) {
    const auto at = std::find(names.begin(), names.end(), meant) - names.begin();
    return fmt::format("{}; did you mean `{}`?", unknown, keys[static_cast<std::size_t>(at)]);
  };
  if (std::find(names.begin(), names.end(), name) != names.end()) return elsewhere(name);
  if (const auto here = nearest(name, known)) {
    return fmt::format("{}; did you mean `{}`?", unknown,
                       in_full ? join_key(section, *here) : *here);
  }
  if (const auto meant = nearest(name, names)) return elsewhere(*meant);
  const std::string there = section.empty() ? "at the top" : fmt::format("in `{}`", section);
  return fmt::format("{}; the keys {} are {}", unknown, there, fmt::join(known, ", "));
}

std::string YamlReader::key_name(const YAML::Node& key, const Place& section,
                                 std::map<std::string, int>& seen) {
  const int line = key.Mark().line;
  if (!key.IsScalar() || key.Scalar().empty()) {
    problem(line, section.key, fmt::format("found {}, wanted the name of a key", found_text(key)));
    return "";
  }
  const std::string& name = key.Scalar();
  const auto [first, fresh] = seen.emplace(name, line);
  if (fresh) return name;
  const std::string before = has_lines_ ? fmt::format(", first on line {}", first->second + 1) : "";
  problem(line, "", fmt::format("key `{}` stands twice{}", join_key(section.key, name), before));
  return "";
}

std::string YamlReader::where(int line) const {
  return has_lines_ ? fmt::format("{}:{}", name_, line + 1) : name_;
}

void YamlReader::problem(int line, const std::string& key, const std::string& what) {
  problems_.add(where(line) + ": " + (key.empty() ? "" : key + ": ") + what);
}

void YamlReader::mismatch(const YAML::Node& node, const Place& place,
                          const std::string& wanted_text, const std::string& hint) {
  problem(place.line, place.key,
          fmt::format("found {}, wanted {}{}", found_text(node), wanted_text, hint));
}

std::string found_text(const YAML::Node& node) {
  if (node.IsSequence()) return "a list";
  if (node.IsMap()) return "a section";
  if (node.IsNull()) return "nothing";
  if (is_quoted(node)) return fmt::format("the text \"{}\"", node.Scalar());
  return node.Scalar();
}

bool is_quoted(const YAML::Node& node) {
  return node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str";
}

}  // namespace regard
