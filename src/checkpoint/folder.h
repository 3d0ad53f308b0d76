// A checkpoint is one folder that is never half there: it is written aside under a hidden name that
// nobody has, `.NAME.tmp-MARK`, flushed to the disk and renamed into place. While a folder is
// written or removed, its writer holds the lock `.NAME.regard-lock`, which records the mark: so one
// writer waits for the other, and the next one knows what a killed writer left and removes that and
// nothing else. Its manifest.json holds the size and SHA-256 of every file, so that damage is found
// when a file is read:
//
//     {"format": 2, "regard": "0.1.0", "info": {…},
//      "files": {"model.safetensors": {"size": 123, "sha256": "…"}, …}, "sha256": "…"}
//
// The last SHA-256 is of the manifest itself, with zeros for its own digits.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/stamped_file.h"

namespace regard {

// Collects files in memory; only commit() touches the disk. Tensors are shared, not copied: leave
// them alone until then. File names are plain, without folders, each one given once.
class FolderWriter {
 public:
  explicit FolderWriter(const std::filesystem::path& path);

  void add_text(const std::string& name, std::string bytes);
  // Throws CheckpointError for what the format cannot hold.
  void add_tensors(const std::string& name, NamedTensors tensors, TensorMetadata metadata = {});

  // Takes over, at commit(), every file of the checkpoint that stands at the path now and that is
  // not added anew: hard links, or copies where the file system has no links. The files are not
  // read.
  void keep_other_files() { keeps_others_ = true; }

  // Writes all files and the manifest, with whatever the caller wants to find again in `info`.
  // An older checkpoint at the path is replaced; anything else there, or in it, is refused. Waits
  // while another process writes there. Throws EnvironmentError (disk full, no permission), and
  // then what stood at the path still does.
  void commit(const Json& info = Json::object());

 private:
  struct File {
    std::string name;
    std::string text;
    NamedTensors tensors;
    TensorMetadata metadata;
    bool is_text;
    std::uint64_t size;
  };
  void add(File file);
  bool is_added(const std::string& name) const;
  std::uint64_t bytes() const;
  void write_aside(const std::filesystem::path& aside, const Json& info) const;

  std::filesystem::path path_;
  std::vector<File> files_;
  bool keeps_others_ = false;
};

// Reads such a folder. Whatever is missing or damaged is a DamagedError that names the file.
class FolderReader {
 public:
  // Files in `may_change` can be edited on purpose: a change is logged as a warning, no error.
  explicit FolderReader(std::filesystem::path path,
                        std::set<std::string> may_change = {"config.yaml"});

  // Whether the checkpoint was written with this file; if it was lost since, reading says so.
  bool has(const std::string& name) const { return files_.contains(name); }
  std::string text(const std::string& name) const;
  NamedTensors tensors(const std::string& name, TensorMetadata* metadata = nullptr) const;
  // Reads every file once: throws where one is damaged.
  void verify_all() const;
  // Throws where this file is damaged.
  void verify(const std::string& name) const;
  const Json& info() const { return info_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::set<std::string> may_change_;
  std::map<std::string, FileStamp> files_;
  Json info_;
};

// Whether a finished checkpoint stands at the path.
bool is_checkpoint(const std::filesystem::path& path);

// Whether every file of it can be read, and is as it was written but for those that may change.
bool is_sound(const std::filesystem::path& path,
              const std::set<std::string>& may_change = {"config.yaml"});

// Throws EnvironmentError unless a checkpoint can be written at the path: nothing is there, or an
// older checkpoint with nothing else in it.
void check_replaceable(const std::filesystem::path& path);

// Removes a checkpoint; it leaves its place in one step. Throws EnvironmentError.
void remove_checkpoint(const std::filesystem::path& path);

// Puts in order what a killed writer of this path left aside: what its lock records, and, as older
// versions of regard named them, `.NAME.tmp` and `.NAME.old`. Only for folders in a run whose lock
// is held: elsewhere these names may be a user's own.
void clear_leftovers(const std::filesystem::path& path);

}  // namespace regard
