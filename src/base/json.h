// JSON values that keep the order of keys, and a parser with limits for untrusted text.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace regard {

using Json = nlohmann::ordered_json;

// Returns JSON text, on one line or indented by `indent` spaces. Bytes that are not UTF-8, such as
// in a file name, become U+FFFD.
std::string to_text(const Json& json, int indent = -1);

// Receives the structure of a JSON text before its values are built. Implementations throw to
// reject untrusted text. The outermost value has depth 0, a key in it depth 1.
class JsonStructure {
 public:
  virtual ~JsonStructure() = default;
  // Called at the begin of an object or array.
  virtual void open(int depth) = 0;
  virtual void key(int depth, const std::string& name) = 0;
};

// Reports the structure of `text` in linear time. Throws Json::exception if it is not JSON. (The
// library's own callback takes quadratic time for an array of many objects.)
void visit_json(const std::string& text, JsonStructure& structure);

// Parses untrusted text. Returns a discarded value, and the reason in `fault`, if the text is not
// JSON, nests deeper than 64 levels (copying is recursive) or has an object with more than 1,000
// keys (lookup is linear). regard's own files stay below both limits.
Json parse_json(const std::string& text, std::string* fault = nullptr);

}  // namespace regard
