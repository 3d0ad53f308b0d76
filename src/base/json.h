// JSON, under one short name. Key order is kept as written.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace regard {

using Json = nlohmann::ordered_json;

// As text, in one line or indented by so many spaces. What is not UTF-8 in it, a file's name say,
// becomes U+FFFD.
std::string to_text(const Json& json, int indent = -1);

// Text that anybody may have written into JSON; a discarded value, and the reason in `fault`, where
// it is none, nests deeper than 64 levels (copying goes down by recursion) or has an object of more
// than 1,000 keys (each is looked for among those before it). Files of regard have neither.
Json parse_json(const std::string& text, std::string* fault = nullptr);

}  // namespace regard
