#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/version.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"

namespace regard {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t slack_per_file = 4096;  // blocks are not filled to the end

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// `.NAME.tmp` beside NAME: never of value, whatever it holds.
fs::path aside_of(const fs::path& path) {
  return parent_of(path) / fmt::format(".{}.tmp", path.filename().string());
}

// `.NAME.old`: the checkpoint that stood at NAME, for the moment between two renames.
fs::path old_of(const fs::path& path) {
  return parent_of(path) / fmt::format(".{}.old", path.filename().string());
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

void check_free_space(const fs::path& folder, std::uint64_t needed) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (!error && space.available < needed) {
    throw EnvironmentError(
        "{}: the disk is too full for a checkpoint (wanted: {:.1f} MB, free: {:.1f} MB); what was "
        "saved before stands: free some space and run the same command again",
        folder.string(), static_cast<double>(needed) / 1e6,
        static_cast<double>(space.available) / 1e6);
  }
}

// Swaps the new folder with the old one in one step where the file system can (NFS cannot).
void put_in_place(const fs::path& aside, const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return rename_to(aside, path);
  if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) {
    throw EnvironmentError("{}: cannot be replaced ({})", path.string(),
                           std::generic_category().message(errno));
  }
  rename_to(path, old_of(path));
  try {
    rename_to(aside, path);
  } catch (const EnvironmentError&) {
    fs::rename(old_of(path), path, ignored);
    throw;
  }
}

// Of what stands at the path only a checkpoint may go, and nothing that lies in it besides.
void refuse_to_lose(const fs::path& path, std::set<std::string> known) {
  std::error_code error;
  if (fs::is_symlink(path, error) || !is_checkpoint(path)) {
    throw EnvironmentError("{}: something else than a checkpoint stands there; move it away",
                           path.string());
  }
  known.insert(manifest_name);
  try {
    for (const auto& [name, stamp] : read_manifest(path).files) known.insert(name);
  } catch (const CheckpointError&) {  // a damaged checkpoint may go too
  }
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const auto name = it->path().filename().string();
    if (known.contains(name) && is_file(it->path())) continue;
    throw EnvironmentError("{}: has {} in it, which is no part of a checkpoint; move it away",
                           path.string(), name);
  }
  if (error) {
    throw EnvironmentError("{}: what is in it cannot be read ({}); move it away", path.string(),
                           error.message());
  }
}

}  // namespace

FolderWriter::FolderWriter(const fs::path& path)
    : path_(path.has_filename() ? path : path.parent_path()) {}

void FolderWriter::add_text(const std::string& name, std::string bytes) {
  const std::uint64_t size = bytes.size();
  add({name, std::move(bytes), {}, {}, true, size});
}

void FolderWriter::add_tensors(const std::string& name, NamedTensors tensors,
                               TensorMetadata metadata) {
  const std::uint64_t size = safetensors_size(tensors, metadata);
  add({name, {}, std::move(tensors), std::move(metadata), false, size});
}

void FolderWriter::add(File file) {
  if (!is_plain_name(file.name) || file.name == manifest_name) {
    throw std::logic_error("no name for a file of a checkpoint: '" + file.name + "'");
  }
  for (const File& other : files_) {
    if (other.name == file.name) throw std::logic_error("added twice: '" + file.name + "'");
  }
  files_.push_back(std::move(file));
}

void FolderWriter::write_aside(const fs::path& aside, const Json& info) const {
  Manifest manifest{version(), {}, info};
  for (const File& file : files_) {
    StampedFile out(aside / file.name);
    if (file.is_text) {
      out.append(file.text);
    } else {
      encode_safetensors(file.tensors, file.metadata,
                         [&](std::string_view bytes) { out.append(bytes); });
    }
    manifest.files[file.name] = out.close();
  }
  StampedFile out(aside / manifest_name);
  out.append(format_manifest(manifest));
  out.close();
  sync_to_disk(aside);
}

void FolderWriter::commit(const Json& info) {
  const fs::path parent = parent_of(path_);
  const fs::path aside = aside_of(path_);
  make_folder(parent);
  clear_leftovers(path_);
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path_, ignored))) {
    std::set<std::string> names;
    for (const File& file : files_) names.insert(file.name);
    refuse_to_lose(path_, std::move(names));
  }
  std::uint64_t needed = slack_per_file;
  for (const File& file : files_) needed += file.size + slack_per_file;
  check_free_space(parent, needed);
  try {
    make_folder(aside);
    write_aside(aside, info);
    put_in_place(aside, path_);
  } catch (...) {
    fs::remove_all(aside, ignored);
    throw;
  }
  sync_to_disk(parent);
  fs::remove_all(aside, ignored);
  fs::remove_all(old_of(path_), ignored);
}

void remove_checkpoint(const fs::path& path) {
  const fs::path aside = aside_of(path);
  remove_tree(aside);
  rename_to(path, aside);
  remove_tree(aside);
}

void clear_leftovers(const fs::path& path) {
  remove_tree(aside_of(path));
  const fs::path old = old_of(path);
  std::error_code ignored;
  if (!fs::exists(old, ignored)) return;
  if (fs::exists(path, ignored)) {
    remove_tree(old);
  } else {
    rename_to(old, path);
  }
}

}  // namespace regard
