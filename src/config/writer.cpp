#include "config/writer.h"

#include <algorithm>
#include <utility>

#include "config/scalar.h"

namespace regard {
namespace {

class Writer {
 public:
  explicit Writer(Comments comments) : comments_(comments) {}

  // Writes `first_indent` before the first key and `indent` before the others. They differ for a
  // list entry, whose first key follows "- ".
  template <Section T>
  void write_section(T& section, const std::string& indent, std::string first_indent) {
    describe(section,
             [&](std::string_view name, auto& value, std::string_view help, Range range = {}) {
               if (comments_ == Comments::help) write_help(value, indent, help, range);
               text_ += fmt::format("{}{}:", std::exchange(first_indent, indent), name);
               write_value(value, indent);
             });
  }

  std::string take() { return std::move(text_); }

 private:
  template <typename T>
  void write_value(T& value, const std::string& indent) {
    if constexpr (Section<T>) {
      text_ += '\n';
      write_section(value, indent + "  ", indent + "  ");
    } else if constexpr (List<T>) {
      text_ += value.empty() ? " []\n" : "\n";
      // Without comments: every entry would repeat them.
      const Comments comments = std::exchange(comments_, Comments::none);
      for (auto& entry : value) write_section(entry, indent + "    ", indent + "  - ");
      comments_ = comments;
    } else {
      text_ += ' ' + to_yaml(value) + '\n';
    }
  }

  template <typename T>
  void write_help(T&, const std::string& indent, std::string_view help, Range range) {
    if (Section<T> && indent.empty()) text_ += '\n';
    std::string comment(help);
    constexpr bool is_unrestricted =
        Section<T> || List<T> || Texts<T> || std::same_as<T, std::string>;
    if constexpr (!is_unrestricted) comment += fmt::format(" [{}]", expected_text<T>(range));
    // Wraps at spaces to lines of at most 100 bytes.
    std::size_t begin = 0;
    while (begin < comment.size()) {
      const std::size_t max_length = 100 - 2 - indent.size();  // 2: "# "
      std::size_t end = comment.size();
      if (end - begin > max_length) {
        const std::size_t space = comment.rfind(' ', begin + max_length);
        if (space != std::string::npos && space > begin) end = space;
      }
      text_ += fmt::format("{}# {}\n", indent, comment.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  Comments comments_;
  std::string text_;
};

using KeysAndValues = std::vector<std::pair<std::string, std::string>>;

// Appends the full keys and YAML values of all fields in `value`, whose own key is `key`.
template <typename T>
void flatten(T& value, const std::string& key, KeysAndValues& result) {
  if constexpr (Section<T>) {
    describe(value, [&](std::string_view name, auto& field, auto&&...) {
      flatten(field, join_key(key, name), result);
    });
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
  Options copy = options;  // describe() takes a non-const reference
  Writer writer(comments);
  writer.write_section(copy, "", "");
  return writer.take();
}

std::vector<std::string> option_differences(const Options& a, const Options& b) {
  Options copies[] = {a, b};
  KeysAndValues values[2];
  for (int i = 0; i < 2; ++i) flatten(copies[i], "", values[i]);
  std::vector<std::string> result;
  for (const auto& [key, before] : values[0]) {
    const std::string* after = find_value(values[1], key);
    if (after && *after == before) continue;
    result.push_back(fmt::format("{}: {} → {}", key, before, after ? *after : "(none)"));
  }
  for (const auto& [key, after] : values[1]) {
    if (!find_value(values[0], key)) result.push_back(fmt::format("{}: (none) → {}", key, after));
  }
  return result;
}

}  // namespace regard
