#include "config/reader.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "config/yaml_file.h"
#include "config/yaml_reader.h"

namespace regard {
namespace {

// One key=value argument of the command line.
class Override {
 public:
  Override(ReadErrors& errors, SourceLocations& locations, const std::string& argument)
      : errors_(errors), locations_(locations), location_("command line: " + argument) {
    const std::size_t equals = argument.find('=');
    key_ = argument.substr(0, equals);
    if (equals == std::string::npos || key_.empty()) {
      const bool is_file = key_.ends_with(".yaml") || key_.ends_with(".yml");
      fail(is_file ? "found a file name, expected key=value; pass one configuration file with -c"
                   : "expected key=value, such as training.epochs=3");
      return;
    }
    text_ = argument.substr(equals + 1);
    is_valid_ = true;
  }

  void apply(Options& options) {
    if (is_valid_) descend(options, Range{}, "", key_);
  }

 private:
  void fail(const std::string& what) { errors_.add(location_ + ": " + what); }

  // Assigns to the field at the key `rest` below `value`, whose own full key is `done`.
  template <typename T>
  void descend(T& value, Range range, const std::string& done, const std::string& rest) {
    if (rest.empty()) return assign(value, range);
    const std::size_t dot = rest.find('.');
    const std::string name = rest.substr(0, dot);
    const std::string next = dot == std::string::npos ? "" : rest.substr(dot + 1);
    if (name.empty() || (dot != std::string::npos && next.empty())) {
      return fail("the key has a dot too many");
    }
    if constexpr (Section<T>) {
      const bool known = visit_field(value, name, [&](auto& field, Range field_range) {
        descend(field, field_range, join_key(done, name), next);
      });
      if (!known) fail(unknown_key(done, name, field_names<T>(), true));
    } else if constexpr (List<T>) {
      entry(value, range, done, name, next);
    } else {
      fail(fmt::format("`{}` is a single value and has no keys below it", done));
    }
  }

  // Assigns below the entry `name` (an index, as text) of a list.
  template <List T>
  void entry(T& list, Range range, const std::string& done, const std::string& name,
             const std::string& next) {
    std::int64_t index = -1;
    const bool is_integer = from_yaml(name, index);
    if (!is_integer || index < 0 || index > static_cast<std::int64_t>(list.size())) {
      return fail(fmt::format("`{}` is a list of {}: found entry {}, expected 0 to {}", done,
                              list.size(), name, list.size()));
    }
    const auto position = static_cast<std::size_t>(index);
    if (position == list.size()) list.emplace_back();
    descend(list[position], range, join_key(done, name), next);
  }

  template <typename T>
  void assign(T& value, Range range) {
    constexpr bool nested = Section<T> || List<T>;
    const bool quoted = text_.starts_with('"') || text_.starts_with('\'');
    try {
      check_utf8(text_, location_);
      const bool verbatim = std::same_as<T, std::string> && !quoted;
      const YAML::Node node = verbatim ? YAML::Node(text_) : YAML::Load(text_);
      // The location names the key of a single value already: "command line: key=value".
      YamlReader(errors_, locations_, location_, false)
          .read(value, node, {nested ? key_ : "", range, 0});
      if (!nested) locations_.set(key_, location_);
    } catch (const YAML::Exception& error) {
      fail("not YAML: " + parse_fault(error));
    } catch (const ConfigError& error) {
      errors_.add(error.what());
    }
  }

  ReadErrors& errors_;
  SourceLocations& locations_;
  std::string location_;
  std::string key_;
  std::string text_;
  bool is_valid_ = false;
};

// `key` is that of `to` and `from`.
template <typename T>
void adopt(T& to, const T& from, const std::string& key, const SourceLocations& set,
           std::string_view section, std::vector<std::string>& changed) {
  if constexpr (Section<T>) {
    for_each_field(
        [&](const auto& field, auto& own, const auto& other) {
          adopt(own, other, join_key(key, field.name), set, section, changed);
        },
        to, from);
  } else if constexpr (!List<T>) {
    const bool is_below = key.starts_with(std::string(section) + ".");
    if (!is_below || set.has(key) || to == from) return;
    to = from;
    changed.push_back(key);
  }
}

}  // namespace

std::vector<std::string> adopt_unset(Options& options, const Options& from,
                                     const SourceLocations& set, std::string_view section) {
  std::vector<std::string> changed;
  adopt(options, from, "", set, section, changed);
  return changed;
}

void complete_language_model(Options& options) {
  if (options.model.kind == ModelKind::translation) return;
  const auto complete = [](auto& pair) {
    if (pair.src.empty()) pair.src = pair.trg;
  };
  for (auto& corpus : options.data.train) complete(corpus);
  complete(options.data.dev);
  options.data.max_ratio = 0;
  options.search.max_output_ratio = 0;
  if (options.model.kind == ModelKind::language_model) return;
  auto& tokenizer = options.data.tokenizer;
  tokenizer.joint = true;
  if (tokenizer.src_file.empty()) tokenizer.src_file = tokenizer.trg_file;
  auto& tied = options.model.tied_embeddings;
  if (tied == TiedEmbeddings::none) tied = TiedEmbeddings::all;
}

Options read_options(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                     SourceLocations* locations) {
  const auto yaml = read_file<ConfigError>(path, "configuration", max_yaml_bytes);
  return parse_options(yaml, path.string(), overrides, locations);
}

Options parse_options(std::string_view yaml, const std::string& name,
                      const std::vector<std::string>& overrides, SourceLocations* locations) {
  Options options;
  ReadErrors errors;
  SourceLocations sources(name);
  const YAML::Node root = load_yaml(yaml, name);
  reject_foreign_configuration(root, name);
  YamlReader(errors, sources, name, true).read(options, root, {"", Range{}, root.Mark().line});
  for (const std::string& argument : overrides) Override(errors, sources, argument).apply(options);
  errors.throw_if_any();
  complete_language_model(options);
  if (locations != nullptr) *locations = std::move(sources);
  return options;
}

}  // namespace regard
