#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"

namespace regard {

FolderReader::FolderReader(std::filesystem::path path, std::set<std::string> may_change)
    : path_(std::move(path)), may_change_(std::move(may_change)) {
  Manifest manifest = read_manifest(path_);
  files_ = std::move(manifest.files);
  info_ = std::move(manifest.info);
}

std::string FolderReader::text(const std::string& name) const {
  verify(name);
  return read_file<CheckpointError>(path_ / name, "checkpoint's file");
}

NamedTensors FolderReader::tensors(const std::string& name, TensorMetadata* metadata) const {
  verify(name);
  return read_safetensors(path_ / name, metadata);
}

void FolderReader::verify(const std::string& name) const {
  const auto expected = files_.find(name);
  if (expected == files_.end()) {
    throw CheckpointError("{}: this checkpoint was written without {}", path_.string(), name);
  }
  const std::filesystem::path file = path_ / name;
  if (!is_file(file)) {
    throw DamagedError("{}: missing, though the manifest lists it", file.string());
  }
  std::error_code ignored;
  if (std::filesystem::is_symlink(file, ignored)) reject_link(file);
  const FileChecksum found = checksum_of(file);
  if (found == expected->second) return;
  if (may_change_.contains(name)) {
    log::warning("{}: changed since the checkpoint was written; the changed file is used",
                 file.string());
    return;
  }
  if (found.size != expected->second.size) {
    throw DamagedError("{}: damaged: found {}, expected {}", file.string(),
                       counted(found.size, "byte"), expected->second.size);
  }
  throw DamagedError("{}: damaged: found SHA-256 {}, expected {}", file.string(), found.sha256,
                     expected->second.sha256);
}

void FolderReader::verify_all() const {
  for (const auto& [name, checksum] : files_) verify(name);
}

bool is_intact(const std::filesystem::path& path, const std::set<std::string>& may_change) {
  try {
    FolderReader(path, may_change).verify_all();
    return true;
  } catch (const CheckpointError&) {
    return false;
  }
}

bool is_checkpoint(const std::filesystem::path& path) {
  return is_file(path / manifest_name);
}

}  // namespace regard
