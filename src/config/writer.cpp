#include "config/writer.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "config/scalar.h"

namespace regard {
namespace {

class Writer {
 public:
  Writer(const Options& options, Comments comments) : options_(options), comments_(comments) {}

  // Writes `first_indent` before the first key and `indent` before the others. They differ for a
  // list entry, whose first key follows "- ".
  template <Section T>
  void write_section(const T& section, const std::string& indent, std::string first_indent) {
    const T defaults;
    for_each_field(
        [&](const auto& field, const auto& value, const auto& fallback) {
          const bool is_read = why_unread(options_, field.readers).empty();
          if (!is_read && is_default(value, fallback)) return;
          if (comments_ == Comments::help) write_help(field, value, indent);
          text_ += fmt::format("{}{}:", std::exchange(first_indent, indent), field.name);
          write_value(value, indent);
        },
        section, defaults);
  }

  std::string take() { return std::move(text_); }

 private:
  template <typename T>
  void write_value(const T& value, const std::string& indent) {
    if constexpr (Section<T>) {
      text_ += '\n';
      write_section(value, indent + "  ", indent + "  ");
    } else if constexpr (List<T>) {
      text_ += value.empty() ? " []\n" : "\n";
      // Without comments: every entry would repeat them.
      const Comments comments = std::exchange(comments_, Comments::none);
      for (const auto& entry : value) write_section(entry, indent + "    ", indent + "  - ");
      comments_ = comments;
    } else {
      text_ += ' ' + to_yaml(value) + '\n';
    }
  }

  template <typename T>
  static bool is_default(const T& value, const T& fallback) {
    if constexpr (Section<T>) {
      bool all = true;
      for_each_field([&](const auto&, const auto& own,
                         const auto& other) { all = all && is_default(own, other); },
                     value, fallback);
      return all;
    } else if constexpr (List<T>) {
      return value.empty();
    } else {
      return value == fallback;
    }
  }

  template <typename T>
  void write_help(const auto& field, const T&, const std::string& indent) {
    if (Section<T> && indent.empty()) text_ += '\n';
    std::string comment = full_help(field.readers, field.help);
    constexpr bool is_unrestricted =
        Section<T> || List<T> || Texts<T> || std::same_as<T, std::string>;
    if constexpr (!is_unrestricted) comment += fmt::format(" [{}]", expected_text<T>(field.range));
    const auto begin = indent + "# ";
    text_ += wrap(begin + comment, 100, begin) + '\n';
  }

  const Options& options_;
  Comments comments_;
  std::string text_;
};

using KeysAndValues = std::vector<std::pair<std::string, std::string>>;

// Appends the full keys and YAML values of all fields in `value`, whose own key is `key`.
template <typename T>
void flatten(const T& value, const std::string& key, KeysAndValues& result) {
  if constexpr (Section<T>) {
    for_each_field([&](const auto& field,
                       const auto& own) { flatten(own, join_key(key, field.name), result); },
                   value);
  } else if constexpr (List<T>) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      flatten(value[i], join_key(key, std::to_string(i)), result);
    }
  } else {
    result.emplace_back(key, to_yaml(value));
  }
}

// Returns nullptr if there is no such key.
const std::string* find_value(const KeysAndValues& all, const std::string& key) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.first == key; });
  return at == all.end() ? nullptr : &at->second;
}

}  // namespace

std::string write_options(const Options& options, Comments comments) {
  Writer writer(options, comments);
  writer.write_section(options, "", "");
  return writer.take();
}

std::optional<std::string> option_value(const Options& options, const std::string& key) {
  KeysAndValues all;
  flatten(options, "", all);
  const auto* value = find_value(all, key);
  return value ? std::optional(*value) : std::nullopt;
}

std::string Difference::text() const {
  return fmt::format("{}: {} → {}", key, before, after);
}

bool Difference::is_at(std::string_view other) const {
  return key == other || key.starts_with(std::string(other) + ".");
}

std::vector<Difference> option_differences(const Options& a, const Options& b) {
  KeysAndValues before;
  KeysAndValues now;
  flatten(a, "", before);
  flatten(b, "", now);
  std::vector<Difference> result;
  for (const auto& [key, value] : before) {
    const std::string* after = find_value(now, key);
    if (after && *after == value) continue;
    result.push_back({key, value, after ? *after : "(none)"});
  }
  for (const auto& [key, after] : now) {
    if (!find_value(before, key)) result.push_back({key, "(none)", after});
  }
  return result;
}

std::string differences_text(const std::vector<Difference>& differences) {
  std::string text;
  for (const auto& difference : differences) text += "\n  " + difference.text();
  return text;
}

}  // namespace regard
