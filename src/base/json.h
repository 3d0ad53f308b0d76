// JSON, under one short name. Key order is kept as written.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace regard {

using Json = nlohmann::ordered_json;

// As text, in one line or indented by so many spaces. What is not UTF-8 in it, a file's name say,
// becomes U+FFFD.
std::string to_text(const Json& json, int indent = -1);

// Receives the structure of a JSON text before any value of it is built, so that text from a
// stranger can be refused by throwing. The depth of the outermost value is 0, that of a key in
// it 1.
class JsonStructure {
 public:
  virtual ~JsonStructure() = default;
  // An object or an array begins.
  virtual void open(int depth) = 0;
  virtual void key(int depth, const std::string& name) = 0;
};

// Reports the structure of `text`, in time linear in its size. Throws Json::exception if it is not
// JSON. The library's own callback for this takes quadratic time for many objects in one.
void visit_json(const std::string& text, JsonStructure& structure);

// Parses text that anybody may have written. Returns a discarded value, and the reason in `fault`,
// if the text is not JSON, nests deeper than 64 levels (copying recurses) or has an object of more
// than 1,000 keys (lookup is linear). Files of regard have neither.
Json parse_json(const std::string& text, std::string* fault = nullptr);

}  // namespace regard
