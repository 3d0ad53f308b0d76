// The text of a configuration as a tree. Private to config/.
#pragma once

#include <yaml-cpp/node/node.h>

#include <string>
#include <string_view>

namespace regard {

constexpr std::size_t most_yaml_bytes = 1 << 20;

// ConfigError with name:line.
void check_utf8(std::string_view text, const std::string& name);

// The one document in a text, Null when there is none. ConfigError, with name:line, for what is not
// UTF-8 or no YAML, for more than 1 MB, a second document, nesting deeper than 64 levels, and more
// than 100,000 values. yaml-cpp takes some hundred bytes for each of the text's, and its reader of
// documents (0.7) would go on for ever where one begins with a comma or a closing bracket, making
// an empty document of it each time; so its parser's events, which take no memory, are looked
// through first.
YAML::Node load_yaml(std::string_view yaml, const std::string& name);

}  // namespace regard
