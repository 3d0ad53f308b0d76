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
const std::string zero_digits(64, '0');

// Replaces the last occurrence of `digits`: the manifest's own hash by zeros, or the reverse.
std::string replace_digits(std::string text, const std::string& digits, const std::string& by) {
  const auto at = text.rfind(digits);
  return at == std::string::npos ? text : text.replace(at, digits.size(), by);
}

void check_own_hash(const std::filesystem::path& path, const std::string& text, const Json& json) {
  const auto digits = json.at("sha256").get<std::string>();
  if (sha256(replace_digits(text, digits, zero_digits)) == digits) return;
  throw DamagedError("{}: the manifest is damaged (its SHA-256 does not match)", path.string());
}
constexpr std::size_t max_bytes = 1 << 20;

Manifest parse(const Json& json) {
  Manifest manifest;
  manifest.regard_version = json.at("regard").get<std::string>();
  for (const auto& [name, checksum] : json.at("files").items()) {
    if (!is_plain_name(name)) throw std::invalid_argument("a file's name leads out of the folder");
    if (!checksum.at("size").is_number_unsigned())
      throw std::invalid_argument("a size is not a whole number");
    manifest.files[name] = {checksum.at("size").get<std::uint64_t>(),
                            checksum.at("sha256").get<std::string>()};
  }
  manifest.info = json.at("info");
  return manifest;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

void reject_link(const std::filesystem::path& path) {
  throw CheckpointError(
      "{}: found a link, which could lead out of the model's folder; replace it by the file itself",
      path.string());
}

std::string format_manifest(const Manifest& manifest) {
  Json files = Json::object();
  for (const auto& [name, checksum] : manifest.files) {
    files[name] = {{"size", checksum.size}, {"sha256", checksum.sha256}};
  }
  const Json json = {{"format", format},
                     {"regard", manifest.regard_version},
                     {"info", manifest.info},
                     {"files", std::move(files)},
                     {"sha256", zero_digits}};
  const auto text = to_text(json, 2) + "\n";
  return replace_digits(text, zero_digits, sha256(text));
}

Manifest read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / manifest_name;
  if (!is_file(path)) {
    throw CheckpointError("{}: no checkpoint found (expected a folder with {})", folder.string(),
                          manifest_name);
  }
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored)) reject_link(path);
  const auto damaged = [&](const std::string& fault) {
    return DamagedError("{}: the manifest is damaged ({})", path.string(), fault);
  };
  std::string fault;
  const auto text = read_file<CheckpointError>(path, "checkpoint's manifest", max_bytes);
  const Json json = parse_json(text, &fault);
  if (json.is_discarded()) throw damaged(fault);
  try {
    const Json& found_format = json.at("format");
    const bool known = found_format == format || found_format == format_without_own_hash;
    if (!known) {
      throw CheckpointError(
          "{}: found a checkpoint of format {}, regard {} reads formats {} to {}; use the version "
          "of "
          "regard that wrote it ({})",
          path.string(), found_format.dump(), version(), format_without_own_hash, format,
          json.value("regard", "unknown"));
    }
    if (found_format == format) check_own_hash(path, text, json);
    return parse(json);
  } catch (const Json::exception& error) {
    throw damaged(error.what());
  } catch (const std::invalid_argument& error) {
    throw damaged(error.what());
  }
}

}  // namespace regard
