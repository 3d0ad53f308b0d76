#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "base/strings.h"
#include "base/version.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"

namespace regard {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t slack_per_file = 4096;  // unused part of the last block

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw EnvironmentError("{}: cannot be removed ({})", path.string(), error.message());
}

void rename_to(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) {
    throw EnvironmentError("{}: cannot be put in place ({})", to.string(), error.message());
  }
}

void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (!error) return;
  fs::copy_file(from, to, error);
  if (error) throw EnvironmentError("{}: cannot be written ({})", to.string(), error.message());
  sync_to_disk(to);
}

void check_free_space(const fs::path& folder, std::uint64_t needed) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (!error && space.available < needed) {
    throw EnvironmentError(
        "{}: the disk is too full for a checkpoint (needed: {:.1f} MB, free: {:.1f} MB); earlier "
        "checkpoints are kept; free some space and run the same command again",
        folder.string(), static_cast<double>(needed) / 1e6,
        static_cast<double>(space.available) / 1e6);
  }
}

// Restores the checkpoint that a killed writer had moved away, or removes it if there is another.
void restore_or_remove_old(const fs::path& old, const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(old, ignored)) return;
  if (fs::exists(path, ignored)) {
    remove_tree(old);
  } else {
    rename_to(old, path);
  }
}

// Locks the folder NAME for writing or removal during its lifetime. The lock is the file
// `.NAME.regard-lock` beside the folder. It records the ID at the end of the names of the hidden
// folders that this writer uses, so that the next writer can clean up if this one is killed.
class WriterLock {
 public:
  // Waits for another writer for two minutes, then cleans up if it was killed. Throws
  // EnvironmentError.
  explicit WriterLock(const fs::path& path)
      : path_(path),
        hidden_((parent_of(path) / fmt::format(".{}", path.filename().string())).string()),
        file_(hidden_ + ".regard-lock"),
        lock_(file_,
              fmt::format("{}: another process has been writing this folder for two minutes (its "
                          "lock: {}); wait for it, or choose another folder",
                          path.string(), file_),
              std::chrono::minutes(2)) {
    lock_.keep_file(true);
    clean_up_killed_writer();
  }
  ~WriterLock() {
    std::error_code ignored;
    const bool clean = !fs::exists(staging(), ignored) && !fs::exists(old(), ignored);
    // If a hidden folder could not be removed, the record stays for the next writer.
    lock_.keep_file(!id_.empty() && !clean);
  }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

  // The path of the new folder before it is renamed, and of a folder being removed.
  fs::path staging() const { return hidden_ + ".tmp-" + id_; }
  // The path of the old folder, on file systems that cannot swap two folders.
  fs::path old() const { return hidden_ + ".old-" + id_; }

  // Chooses an unused ID and records it in the lock.
  void choose_id() {
    std::error_code ignored;
    std::random_device random;
    do {
      id_ = fmt::format("{:08x}", random());
    } while (fs::exists(fs::symlink_status(staging(), ignored)) ||
             fs::exists(fs::symlink_status(old(), ignored)));
    const auto record = fmt::format("{}\n{}\n{}\n", first_line, ::getpid(), id_);
    const int file = lock_.descriptor();
    if (::ftruncate(file, 0) != 0 || ::lseek(file, 0, SEEK_SET) != 0) fail();
    write_all(file, record, file_);
    // EINVAL: the file system cannot flush files.
    if (::fsync(file) != 0 && errno != EINVAL) fail();
  }
  void make_staging() {
    choose_id();
    if (::mkdir(staging().c_str(), 0777) == 0) return;
    throw EnvironmentError("{}: the folder cannot be made ({})", staging().string(),
                           std::strerror(errno));
  }

 private:
  static constexpr std::string_view first_line = "regard is writing the folder of this name";

  [[noreturn]] void fail() const {
    throw EnvironmentError("{}: cannot be written ({})", file_, std::strerror(errno));
  }

  // Removes or restores the hidden folders of the last holder, if it was killed. choose_id()
  // flushes the record before a folder is created: if the record is empty or incomplete, there is
  // none.
  void clean_up_killed_writer() {
    char bytes[200] = {};
    const auto size = ::pread(lock_.descriptor(), bytes, sizeof bytes - 1, 0);
    if (size < 0) fail();
    const std::string_view record = bytes;  // up to a NUL
    if (!record.starts_with(first_line)) {
      if (first_line.starts_with(record)) return;
      throw EnvironmentError("{}: not a lock of regard, but has the name of one; move it away",
                             file_);
    }
    const auto lines = split(record, '\n');  // first_line, process, ID, ""
    if (lines.size() != 4 || !is_id(lines[2])) return;
    id_ = lines[2];
    remove_tree(staging());
    restore_or_remove_old(old(), path_);
  }

  static bool is_id(std::string_view text) {
    return text.size() == 8 && text.find_first_not_of("0123456789abcdef") == text.npos;
  }

  fs::path path_;
  std::string hidden_;  // `.NAME` beside NAME
  std::string file_;
  std::string id_;
  FileLock lock_;
};

// Puts the new folder `staging` at the path. Swaps it with an existing folder atomically, which is
// then at `staging`, if the file system supports it (NFS does not). Otherwise moves the existing
// folder to `old` first.
void put_in_place(const fs::path& staging, const fs::path& path, const fs::path& old) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return rename_to(staging, path);
  if (::renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) {
    throw EnvironmentError("{}: cannot be replaced ({})", path.string(),
                           std::generic_category().message(errno));
  }
  rename_to(path, old);
  try {
    rename_to(staging, path);
  } catch (const EnvironmentError&) {
    fs::rename(old, path, ignored);
    throw;
  }
}

// Throws EnvironmentError if the path is not a checkpoint, or contains files that belong neither to
// the checkpoint nor to `known`.
void check_only_checkpoint(const fs::path& path, std::set<std::string> known) {
  std::error_code error;
  if (fs::is_symlink(path, error) || !is_checkpoint(path)) {
    throw EnvironmentError("{}: found something other than a checkpoint; move it away",
                           path.string());
  }
  known.insert(manifest_name);
  try {
    for (const auto& [name, checksum] : read_manifest(path).files) known.insert(name);
  } catch (const CheckpointError&) {  // a damaged checkpoint may be replaced
  }
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const auto name = it->path().filename().string();
    if (known.contains(name) && is_file(it->path())) continue;
    throw EnvironmentError("{}: found {}, which is not part of a checkpoint; move it away",
                           path.string(), name);
  }
  if (error) {
    throw EnvironmentError("{}: the folder cannot be read ({}); move it away", path.string(),
                           error.message());
  }
}

fs::path without_trailing_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

FolderWriter::FolderWriter(const fs::path& path) : path_(without_trailing_slash(path)) {}

void FolderWriter::add_text(const std::string& name, std::string bytes) {
  const std::uint64_t size = bytes.size();
  add({name, std::move(bytes), {}, true, size});
}

void FolderWriter::add_tensors(const std::string& name, NamedTensors tensors) {
  const std::uint64_t size = safetensors_size(tensors);
  add({name, {}, std::move(tensors), false, size});
}

void FolderWriter::add(File file) {
  if (!is_plain_name(file.name) || file.name == manifest_name) {
    throw std::logic_error("invalid name for a file of a checkpoint: '" + file.name + "'");
  }
  if (is_added(file.name)) throw std::logic_error("added twice: '" + file.name + "'");
  files_.push_back(std::move(file));
}

bool FolderWriter::is_added(const std::string& name) const {
  return std::ranges::any_of(files_, [&](const File& file) { return file.name == name; });
}

void FolderWriter::write_staging(const fs::path& staging, const Json& info) const {
  Manifest manifest{version(), {}, info};
  for (const File& file : files_) {
    ChecksummedFile out(staging / file.name);
    if (file.is_text) {
      out.append(file.text);
    } else {
      encode_safetensors(file.tensors, [&](std::string_view bytes) { out.append(bytes); });
    }
    manifest.files[file.name] = out.close();
  }
  if (keep_others_) {
    for (const auto& [name, checksum] : read_manifest(path_).files) {
      if (is_added(name)) continue;
      link_or_copy(path_ / name, staging / name);
      manifest.files[name] = checksum;
    }
  }
  ChecksummedFile out(staging / manifest_name);
  out.append(format_manifest(manifest));
  out.close();
  sync_to_disk(staging);
}

std::uint64_t FolderWriter::needed_bytes() const {
  std::uint64_t needed = slack_per_file;  // for the manifest
  for (const File& file : files_) needed += file.size + slack_per_file;
  return needed;
}

void FolderWriter::commit(const Json& info) {
  const fs::path parent = parent_of(path_);
  if (!requires_parent_) make_folder(parent);
  WriterLock lock(path_);
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path_, ignored))) {
    std::set<std::string> names;
    for (const File& file : files_) names.insert(file.name);
    check_only_checkpoint(path_, std::move(names));
  }
  check_free_space(parent, needed_bytes());
  lock.make_staging();
  try {
    write_staging(lock.staging(), info);
    put_in_place(lock.staging(), path_, lock.old());
  } catch (...) {
    fs::remove_all(lock.staging(), ignored);
    throw;
  }
  sync_to_disk(parent);
  fs::remove_all(lock.staging(), ignored);
  fs::remove_all(lock.old(), ignored);
}

void check_replaceable(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(without_trailing_slash(path), ignored))) {
    check_only_checkpoint(without_trailing_slash(path), {});
  }
}

void remove_checkpoint(const fs::path& path) {
  WriterLock lock(path);
  lock.choose_id();
  rename_to(path, lock.staging());
  sync_to_disk(parent_of(path));  // else a crash could leave a folder that lacks files
  remove_tree(lock.staging());
}

void clear_leftovers(const fs::path& path) {
  const WriterLock lock(path);  // its constructor does
}

}  // namespace regard
