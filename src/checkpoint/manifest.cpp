#include "checkpoint/manifest.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/version.h"

namespace regard {
namespace {

[[noreturn]] void throw_write_error(const std::filesystem::path& path, int error) {
  throw EnvironmentError("{}: cannot be written ({})", path.string(), std::strerror(error));
}

}  // namespace

ChecksummedFile::ChecksummedFile(std::filesystem::path path)
    : path_(std::move(path)),
      fd_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (fd_ < 0) throw_write_error(path_, errno);
}

ChecksummedFile::~ChecksummedFile() {
  if (fd_ >= 0) ::close(fd_);
}

void ChecksummedFile::append(std::string_view bytes) {
  hash_.update(bytes);
  size_ += bytes.size();
  write_all(fd_, bytes, path_);
}

FileChecksum ChecksummedFile::close() {
  // EINVAL: the file has no disk, for example a pipe.
  if (::fsync(fd_) != 0 && errno != EINVAL) throw_write_error(path_, errno);
  if (::close(std::exchange(fd_, -1)) != 0) throw_write_error(path_, errno);
  return {size_, hash_.hex_digest()};
}

FileChecksum checksum_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw CheckpointError("{}: cannot be read ({})", path.string(), std::strerror(errno));
  FileChecksum checksum;
  Sha256 hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto count = static_cast<std::size_t>(in.gcount());
    hash.update({buffer.data(), count});
    checksum.size += count;
  }
  if (in.bad()) throw CheckpointError("{}: reading failed", path.string());
  checksum.sha256 = hash.hex_digest();
  return checksum;
}

namespace {

constexpr int format = 2;
constexpr std::size_t max_model_manifest_bytes = 1 << 20;  // of a manifest
const std::string zero_digits(64, '0');

// Replaces the last occurrence of `digits` by `by`: the manifest's own hash by zeros, or the
// reverse.
std::string replace_digits(std::string text, const std::string& digits, const std::string& by) {
  const auto at = text.rfind(digits);
  return at == std::string::npos ? text : text.replace(at, digits.size(), by);
}

void check_own_hash(const std::filesystem::path& path, const std::string& text, const Json& json) {
  const auto digits = json.at("sha256").get<std::string>();
  if (sha256(replace_digits(text, digits, zero_digits)) == digits) return;
  throw DamagedError("{}: the manifest is damaged (its SHA-256 does not match)", path.string());
}

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
  return sealed_manifest(to_text(json, 2) + "\n");
}

std::string sealed_manifest(const std::string& text) {
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
  const auto text =
      read_file<CheckpointError>(path, "checkpoint's manifest", max_model_manifest_bytes);
  const Json json = parse_json(text, &fault);
  if (json.is_discarded()) throw damaged(fault);
  try {
    const Json& found_format = json.at("format");
    if (found_format != format) {
      throw CheckpointError(
          "{}: found a checkpoint of format {}, regard {} reads format {}; use the version of "
          "regard that wrote it ({})",
          path.string(), found_format.dump(), version(), format, json.value("regard", "unknown"));
    }
    check_own_hash(path, text, json);
    return parse(json);
  } catch (const Json::exception& error) {
    throw damaged(error.what());
  } catch (const std::invalid_argument& error) {
    throw damaged(error.what());
  }
}

}  // namespace regard
