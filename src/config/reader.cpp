#include "config/reader.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "config/foreign_file.h"
#include "config/yaml_file.h"
#include "config/yaml_reader.h"

namespace regard {
namespace {

// One key=value of the command line, carried down to the value it names.
class Override {
 public:
  Override(Problems& problems, Origins& origins, const std::string& argument)
      : problems_(problems), origins_(origins), where_("command line: " + argument) {
    const std::size_t equals = argument.find('=');
    key_ = argument.substr(0, equals);
    if (equals == std::string::npos || key_.empty()) {
      const bool is_file = key_.ends_with(".yaml") || key_.ends_with(".yml");
      problem(is_file ? "a configuration is given with -c, and only one"
                      : "wanted key=value, such as training.epochs=3");
      return;
    }
    text_ = argument.substr(equals + 1);
    usable_ = true;
  }

  void apply(Options& options) {
    if (usable_) descend(options, Range{}, "", key_);
  }

 private:
  void problem(const std::string& what) { problems_.add(where_ + ": " + what); }

  // `rest` of the key leads on from `value`, which has the key `done`.
  template <typename T>
  void descend(T& value, Range range, const std::string& done, const std::string& rest) {
    if (rest.empty()) return assign(value, range);
    const std::size_t dot = rest.find('.');
    const std::string name = rest.substr(0, dot);
    const std::string next = dot == std::string::npos ? "" : rest.substr(dot + 1);
    if (name.empty() || (dot != std::string::npos && next.empty())) {
      return problem("a dot too many in the key");
    }
    if constexpr (Section<T>) {
      const bool known = visit_field(value, name, [&](auto& field, Range field_range) {
        descend(field, field_range, join_key(done, name), next);
      });
      if (!known) problem(unknown_key(done, name, field_names(value), true));
    } else if constexpr (List<T>) {
      entry(value, range, done, name, next);
    } else {
      problem(fmt::format("`{}` is a single value, there is nothing under it", done));
    }
  }

  template <List T>
  void entry(T& list, Range range, const std::string& done, const std::string& name,
             const std::string& next) {
    std::int64_t index = -1;
    const bool whole = from_yaml(name, index);
    if (!whole || index < 0 || index > static_cast<std::int64_t>(list.size())) {
      return problem(fmt::format("`{}` is a list of {}: found entry {}, wanted 0 to {}", done,
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
      check_utf8(text_, where_);
      const bool verbatim = std::same_as<T, std::string> && !quoted;
      const YAML::Node node = verbatim ? YAML::Node(text_) : YAML::Load(text_);
      YamlReader(problems_, origins_, where_, false)
          .read(value, node, {nested ? key_ : "", range, 0});
      if (!nested) origins_.set(key_, where_);
    } catch (const YAML::Exception& error) {
      problem("not YAML: " + error.msg);
    } catch (const ConfigError& error) {
      problems_.add(error.what());
    }
  }

  Problems& problems_;
  Origins& origins_;
  std::string where_;
  std::string key_;
  std::string text_;
  bool usable_ = false;
};

template <Section T>
void collect_keys(T& section, const std::string& key, std::vector<std::string>& keys) {
  describe(section, [&](std::string_view name, auto& field, auto&&...) {
    using Field = std::remove_reference_t<decltype(field)>;
    const std::string full = join_key(key, name);
    keys.push_back(full);
    if constexpr (Section<Field>) {
      collect_keys(field, full, keys);
    } else if constexpr (List<Field>) {
      typename Field::value_type entry;
      collect_keys(entry, join_key(full, "0"), keys);
    }
  });
}

}  // namespace

Options read_options(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                     Origins* origins) {
  const auto yaml = read_file<ConfigError>(path, "configuration", most_yaml_bytes);
  return parse_options(yaml, path.string(), overrides, origins);
}

Options parse_options(std::string_view yaml, const std::string& name,
                      const std::vector<std::string>& overrides, Origins* origins) {
  Options options;
  Problems problems;
  Origins found(name);
  const YAML::Node root = load_yaml(yaml, name);
  refuse_foreign_configuration(root, name);
  YamlReader(problems, found, name, true).read(options, root, {"", Range{}, root.Mark().line});
  for (const std::string& argument : overrides) Override(problems, found, argument).apply(options);
  problems.throw_if_any();
  if (origins != nullptr) *origins = std::move(found);
  return options;
}

std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  Options options;
  collect_keys(options, "", keys);
  return keys;
}

}  // namespace regard
