// JSON, under one short name. Key order is kept as written.
#pragma once

#include <nlohmann/json.hpp>

namespace regard {

using Json = nlohmann::ordered_json;

}  // namespace regard
