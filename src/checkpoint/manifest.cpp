#include "checkpoint/manifest.h"

#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/version.h"

namespace regard {
namespace {

constexpr int format = 1;

Manifest parse(const Json& json) {
  Manifest manifest;
  manifest.regard = json.at("regard").get<std::string>();
  for (const auto& [name, stamp] : json.at("files").items()) {
    manifest.files[name] = {stamp.at("size").get<std::uint64_t>(),
                            stamp.at("sha256").get<std::string>()};
  }
  manifest.info = json.at("info");
  return manifest;
}

}  // namespace

std::string format_manifest(const Manifest& manifest) {
  Json files = Json::object();
  for (const auto& [name, stamp] : manifest.files) {
    files[name] = {{"size", stamp.size}, {"sha256", stamp.sha256}};
  }
  const Json json = {{"format", format},
                     {"regard", manifest.regard},
                     {"info", manifest.info},
                     {"files", std::move(files)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Manifest read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / manifest_name;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw CheckpointError("{}: no checkpoint there (wanted: a folder with {})", folder.string(),
                          manifest_name);
  }
  const std::string text = read_file<CheckpointError>(path, "checkpoint's manifest");
  try {
    const Json json = Json::parse(text);
    const int found = json.at("format").get<int>();
    if (found != format) {
      throw CheckpointError(
          "{}: checkpoint of format {}, this regard {} reads format {}; use the regard that wrote "
          "it ({})",
          path.string(), found, version(), format, json.value("regard", "unknown"));
    }
    return parse(json);
  } catch (const Json::exception& error) {
    throw CheckpointError("{}: the manifest is damaged ({})", path.string(), error.what());
  }
}

}  // namespace regard
