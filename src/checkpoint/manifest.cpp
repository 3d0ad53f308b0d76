#include "checkpoint/manifest.h"

#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/version.h"

namespace regard {
namespace {

constexpr int format = 1;
constexpr std::size_t most_bytes = 1 << 20;

Manifest parse(const Json& json) {
  Manifest manifest;
  manifest.regard = json.at("regard").get<std::string>();
  for (const auto& [name, stamp] : json.at("files").items()) {
    if (!is_plain_name(name)) throw std::invalid_argument("a file's name leads out of the folder");
    if (!stamp.at("size").is_number_unsigned()) throw std::invalid_argument("a size is no count");
    manifest.files[name] = {stamp.at("size").get<std::uint64_t>(),
                            stamp.at("sha256").get<std::string>()};
  }
  manifest.info = json.at("info");
  return manifest;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

void refuse_link(const std::filesystem::path& path) {
  throw CheckpointError(
      "{}: a link, which could lead out of the model's folder; put the file itself in its place",
      path.string());
}

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
  if (std::filesystem::is_symlink(path, ignored)) refuse_link(path);
  const auto damaged = [&](const std::string& fault) {
    return CheckpointError("{}: the manifest is damaged ({})", path.string(), fault);
  };
  std::string fault;
  const Json json =
      parse_json(read_file<CheckpointError>(path, "checkpoint's manifest", most_bytes), &fault);
  if (json.is_discarded()) throw damaged(fault);
  try {
    const Json& found = json.at("format");
    if (found != format) {
      throw CheckpointError(
          "{}: checkpoint of format {}, this regard {} reads format {}; use the regard that wrote "
          "it ({})",
          path.string(), found.dump(), version(), format, json.value("regard", "unknown"));
    }
    return parse(json);
  } catch (const Json::exception& error) {
    throw damaged(error.what());
  } catch (const std::invalid_argument& error) {
    throw damaged(error.what());
  }
}

}  // namespace regard
