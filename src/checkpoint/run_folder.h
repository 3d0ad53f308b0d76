// The checkpoints of one training run:
//
//     runs/x/checkpoints/step-00001000/   complete checkpoints, see folder.h
//     runs/x/last, runs/x/best            links to two of them, replaced atomically
//     runs/x/checkpoints/last, …/best     files that name the two, for copies without links
//     runs/x/.lock                        held by the process that trains
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regard {

// Not thread-safe. Functions that read may throw EnvironmentError if a folder cannot be read.
class RunFolder {
 public:
  using Path = std::filesystem::path;

  explicit RunFolder(Path path) : path_(std::move(path)) {}
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const Path& path() const { return path_; }

  // Creates the folder and locks it for the lifetime of this object or the process, then cleans up
  // after a killed training. Throws EnvironmentError with the process id if another process trains
  // here. All functions below that write need the lock.
  void lock();

  // Throws EnvironmentError if the locked folder is no longer at its path because it was moved,
  // deleted or replaced. Does nothing before lock(). Call it before each write below the path, so
  // that nothing is created in a folder that may belong to another process.
  void check_not_moved() const;

  // Creates a folder in the locked folder, unless it exists, also if that was moved: in an empty
  // folder that takes its place, no path below this one exists. Throws EnvironmentError.
  void make_folder_inside(const std::string& name) const;
  // Creates the folder of the checkpoints in this way.
  void make_checkpoints_folder() const;

  // Returns the path of the checkpoint of this step, which need not exist.
  Path checkpoint(std::int64_t step) const;
  // Returns the steps of the complete checkpoints, in ascending order.
  std::vector<std::int64_t> checkpoint_steps() const;

  // Returns the target of `last`, a link or else a file. If that is missing too, returns the newest
  // complete checkpoint; nullopt if there is none.
  std::optional<Path> last() const;
  // Returns the target of `last` if it is a folder, but not a complete checkpoint.
  std::optional<Path> incomplete_last() const;
  // Returns the target of `best`, a link or else a file; nullopt if that is missing too.
  std::optional<Path> best() const;
  // Returns true if the link `best` leads to this step; on a file system without links, the file.
  bool is_best(std::int64_t step) const;
  // Returns the step of best(); nullopt if there is none or its step is unknown.
  std::optional<std::int64_t> best_step() const;
  // Set the links and files to the checkpoint of this step. Throw CheckpointError if the checkpoint
  // is not complete, and EnvironmentError if they cannot be written. Only warn, once, if the file
  // system has no links.
  void set_last(std::int64_t step);
  void set_best(std::int64_t step);

  // Removes all checkpoints except the newest `keep_newest`, the `keep_best` best, and the targets
  // of `last` and `best`. `ranking` has the steps of the run, best first, including steps without a
  // checkpoint. If a checkpoint cannot be removed, logs a warning and continues.
  void prune(std::size_t keep_newest, std::size_t keep_best,
             const std::vector<std::int64_t>& ranking);

 private:
  void clear_all_leftovers() const;
  void replace_copied_links();
  void move_copy_away(const char* link) const;
  Path target_of(const char* link) const;
  std::optional<Path> follow(const char* link) const;
  void record(const char* link, const std::string& checkpoint_name) const;
  void set_link(const char* link, std::int64_t step);

  Path path_;
  bool has_links_ = true;  // false if the file system refused one
  int folder_ = -1;        // descriptor of the folder; -1 before lock()
  int lock_ = -1;          // descriptor of the locked file `.lock` in it; -1 before lock()
};

// Returns the model folder for a path given by the user: a run folder (its best checkpoint, else
// its last) or a folder with model.safetensors. Otherwise throws CheckpointError, whose message
// lists models in the folder or beside it.
std::filesystem::path resolve_model(const std::filesystem::path& path);

}  // namespace regard
