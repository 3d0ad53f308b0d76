// A checkpoint is a folder that is written atomically: under a unique hidden name, `.NAME.tmp-ID`,
// then flushed to the disk and renamed. While a folder is written or removed, its writer holds the
// lock `.NAME.regard-lock`, which records the ID. A second writer waits for the first. If a writer
// is killed, the next writer cleans up the hidden folders with the recorded ID, and no others.
// manifest.json has the size and SHA-256 of every file, so that damage is detected when a file is
// read:
//
//     {"format": 2, "regard": "0.1.0", "info": {…},
//      "files": {"model.safetensors": {"size": 123, "sha256": "…"}, …}, "sha256": "…"}
//
// The last SHA-256 is the hash of the manifest's text with 64 zeros in place of this hash.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"

namespace regard {

// Collects files in memory and writes them in commit(). Tensors are shared, not copied: do not
// modify them before commit(). File names must be plain, without folders, and unique; other names
// throw std::logic_error.
class FolderWriter {
 public:
  explicit FolderWriter(const std::filesystem::path& path);

  void add_text(const std::string& name, std::string bytes);
  // Adds a file in the format of safetensors.h. Throws CheckpointError if the format cannot
  // represent the tensors.
  void add_tensors(const std::string& name, NamedTensors tensors);

  // Makes commit() keep every file of the existing checkpoint that is not added again, by a hard
  // link or, if the file system has none, by a copy. The files are not verified.
  void keep_other_files() { keep_others_ = true; }

  // Makes commit() fail if the parent folder is missing. By default it creates all parents.
  void require_parent() { requires_parent_ = true; }

  // Writes all files and the manifest, which stores `info` for FolderReader::info(). Replaces an
  // existing checkpoint. Waits up to two minutes while another process writes the folder. Throws
  // EnvironmentError if the path exists and is not a checkpoint, if the checkpoint has files that
  // regard did not write, or on failure (disk full, no permission). The path is then unchanged.
  void commit(const Json& info = Json::object());

 private:
  struct File {
    std::string name;
    std::string text;
    NamedTensors tensors;
    bool is_text;        // `text` is set, else `tensors`
    std::uint64_t size;  // of the written file, in bytes
  };
  void add(File file);
  bool is_added(const std::string& name) const;
  // Returns the disk space of all files, in bytes.
  std::uint64_t needed_bytes() const;
  // Writes all files and the manifest into `staging`, the hidden folder.
  void write_staging(const std::filesystem::path& staging, const Json& info) const;

  std::filesystem::path path_;
  std::vector<File> files_;
  bool keep_others_ = false;
  bool requires_parent_ = false;
};

// Reads a checkpoint folder. Throws DamagedError with the name of a missing or damaged file, and
// RemovedError if the folder is no longer at its path. Hashes each file once, unless it changes.
// Not thread-safe.
class FolderReader {
 public:
  // The files in `may_change` may be edited by the user: a change is only a warning.
  explicit FolderReader(std::filesystem::path path,
                        std::set<std::string> may_change = {"config.yaml"});

  // True if the manifest lists this file, even if the file has been deleted since.
  bool has(const std::string& name) const { return files_.contains(name); }
  // Verify the file, then read it.
  std::string text(const std::string& name) const;
  NamedTensors tensors(const std::string& name) const;
  // Reads every file. Throws if one is damaged.
  void verify_all() const;
  // Throws if this file is damaged.
  void verify(const std::string& name) const;
  // Returns the argument of FolderWriter::commit().
  const Json& info() const { return info_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  template <typename Read>
  auto read_or_throw_removed(Read read) const;
  void verify_file(const std::string& name) const;

  std::filesystem::path path_;
  std::set<std::string> may_change_;
  std::string identity_;  // of the folder that was at the path when this object was created
  std::map<std::string, FileChecksum> files_;
  Json info_;
  mutable std::map<std::string, std::string> verified_;  // identities of intact files
};

// Returns read(), a function that looks up checkpoints of a run and reads them. Calls it again if
// it throws RemovedError, because a training removed a checkpoint between the two. Rethrows the
// tenth RemovedError.
template <typename Read>
auto retry_if_removed(Read read) {
  for (int attempt = 1;; ++attempt) {
    try {
      return read();
    } catch (const RemovedError&) {
      if (attempt == 10) throw;
    }
  }
}

// True if the path is a folder with a manifest. Such a folder was written completely, but may have
// been damaged since: see is_intact().
bool is_checkpoint(const std::filesystem::path& path);

// True if every file of the checkpoint can be read and, except those that may change, is unchanged.
bool is_intact(const std::filesystem::path& path,
               const std::set<std::string>& may_change = {"config.yaml"});

// Throws EnvironmentError if the path exists and is not a checkpoint, or if the checkpoint has
// files that regard did not write: FolderWriter::commit() would refuse to replace it.
void check_replaceable(const std::filesystem::path& path);

// Removes a checkpoint atomically. Throws EnvironmentError.
void remove_checkpoint(const std::filesystem::path& path);

// Cleans up after a killed writer of this path: removes or restores the folders that its lock
// records. Throws EnvironmentError.
void clear_leftovers(const std::filesystem::path& path);

}  // namespace regard
