#include <sys/stat.h>

#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"

namespace regard {
namespace {

// Returns a text that identifies the folder at the path: its real path, device and inode. The text
// changes if another folder takes the path, or if a link in the path is changed. Empty if there is
// no folder.
std::string identity_of(const std::filesystem::path& path) {
  struct stat found {};
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  if (error || ::stat(target.c_str(), &found) != 0) return "";
  return fmt::format("{} {} {}", target.string(), found.st_dev, found.st_ino);
}

// Returns what changes when a file is written or replaced, by the clock of the kernel; empty if
// there is no file.
std::string version_of(const std::filesystem::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return "";
  return fmt::format("{} {} {} {}.{} {}.{}", found.st_dev, found.st_ino, found.st_size,
                     found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_ctim.tv_sec,
                     found.st_ctim.tv_nsec);
}

}  // namespace

// Returns read(). If read() fails and the folder is missing or has been replaced, throws
// RemovedError instead.
template <typename Read>
auto FolderReader::read_or_throw_removed(Read read) const {
  try {
    return read();
  } catch (const Error& error) {
    if (identity_.empty()) throw RemovedError("{}", error.what());
    if (identity_of(path_) == identity_) throw;
    throw RemovedError(
        "{}: removed or replaced while it was read; read it again, or keep more checkpoints "
        "(training.keep_newest, training.keep_best)",
        path_.string());
  }
}

FolderReader::FolderReader(std::filesystem::path path, std::set<std::string> may_change)
    : path_(std::move(path)), may_change_(std::move(may_change)), identity_(identity_of(path_)) {
  Manifest manifest = read_or_throw_removed([&] { return read_manifest(path_); });
  files_ = std::move(manifest.files);
  info_ = std::move(manifest.info);
}

std::string FolderReader::text(const std::string& name) const {
  return read_or_throw_removed([&] {
    verify_file(name);
    return read_file<CheckpointError>(path_ / name, "checkpoint's file");
  });
}

NamedTensors FolderReader::tensors(const std::string& name) const {
  return read_or_throw_removed([&] {
    verify_file(name);
    return read_safetensors(path_ / name);
  });
}

void FolderReader::verify(const std::string& name) const {
  read_or_throw_removed([&] { verify_file(name); });
}

void FolderReader::verify_file(const std::string& name) const {
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
  const auto version = version_of(file);
  if (const auto before = verified_.find(name);
      before != verified_.end() && before->second == version) {
    return;
  }
  const FileChecksum found = checksum_of(file);
  if (found == expected->second) {
    verified_[name] = version;
    return;
  }
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
