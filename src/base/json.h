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

// Receives the brackets, keys and values of a JSON text from visit_json(). An implementation throws
// to reject untrusted text before it is parsed into a Json. The outermost value has depth 0; its
// keys and elements have depth 1.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  // Called at the start of an object or array.
  virtual void open(int depth) = 0;
  // Called for each key of an object.
  virtual void key(int depth, const std::string& name) = 0;
  // Called for each value that is no object or array.
  virtual void value() {}
};

// Calls `visitor` for each bracket, key and value of `text`, in linear time. Throws Json::exception
// if it is not JSON. (The library's own callback takes quadratic time for an array of many
// objects.)
void visit_json(const std::string& text, JsonVisitor& visitor);

// Returns the message of an exception without the name of its class: "parse error at line 1 …".
std::string fault_of(const Json::exception& error);

// Parses untrusted text. On failure returns a value for which is_discarded() is true, and stores
// the reason in `fault`. Rejects text that is not JSON, that nests deeper than 64 levels (a copy of
// a Json recurses once per level) and an object with more than 1,000 keys (Json looks a key up in
// linear time). regard's own files stay below both limits.
Json parse_json(const std::string& text, std::string* fault = nullptr);

}  // namespace regard
