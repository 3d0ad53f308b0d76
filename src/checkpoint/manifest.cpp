#include "checkpoint/manifest.h"

#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/version.h"

namespace regard {
namespace {

constexpr int format = 2;
constexpr int format_without_own_hash = 1;
const std::string no_digits(64, '0');

// The text with the manifest's own hash in the place of zeros, or the other way round.
std::string exchanged(std::string text, const std::string& digits, const std::string& by) {
  const auto at = text.rfind(digits);
  return at == std::string::npos ? text : text.replace(at, digits.size(), by);
}

void check_own_hash(const std::filesystem::path& path, const std::string& text, const Json& json) {
  const auto digits = json.at("sha256").get<std::string>();
  if (sha256(exchanged(text, digits, no_digits)) == digits) return;
  throw DamagedError("{}: the manifest is damaged (its SHA-256 is another)", path.string());
}
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
                     {"files", std::move(files)},
                     {"sha256", no_digits}};
  const auto text = to_text(json, 2) + "\n";
  return exchanged(text, no_digits, sha256(text));
}

Manifest read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / manifest_name;
  if (!is_file(path)) {
    throw CheckpointError("{}: no checkpoint there (wanted: a folder with {})", folder.string(),
                          manifest_name);
  }
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored)) refuse_link(path);
  const auto damaged = [&](const std::string& fault) {
    return DamagedError("{}: the manifest is damaged ({})", path.string(), fault);
  };
  std::string fault;
  const auto text = read_file<CheckpointError>(path, "checkpoint's manifest", most_bytes);
  const Json json = parse_json(text, &fault);
  if (json.is_discarded()) throw damaged(fault);
  try {
    const Json& format_found = json.at("format");
    const bool known = format_found == format || format_found == format_without_own_hash;
    if (!known) {
      throw CheckpointError(
          "{}: checkpoint of format {}, this regard {} reads formats {} to {}; use the regard that "
          "wrote it ({})",
          path.string(), format_found.dump(), version(), format_without_own_hash, format,
          json.value("regard", "unknown"));
    }
    if (format_found == format) check_own_hash(path, text, json);
    return parse(json);
  } catch (const Json::exception& error) {
    throw damaged(error.what());
  } catch (const std::invalid_argument& error) {
    throw damaged(error.what());
  }
}

}  // namespace regard
