// What a text must be before yaml-cpp makes a tree of it. Private to config/.
#pragma once

#include <string>

namespace regard {

// Goes through the parser's events, which take no memory. ConfigError for a second document, for
// nesting deeper than 64 levels, and for more than 100,000 values; yaml-cpp's own exceptions for
// what is no YAML. Its reader of documents (0.7) would go on for ever where one begins with a comma
// or a closing bracket, making an empty document of it each time.
void check_yaml(const std::string& text, const std::string& name);

}  // namespace regard
