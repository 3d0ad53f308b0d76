// The checkpoints of one training run:
//
//     runs/x/checkpoints/step-00001000/   complete checkpoints, see folder.h
//     runs/x/last, runs/x/best            links to two of them, replaced atomically
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

  // Returns the path of the checkpoint of this step, which need not exist.
  Path checkpoint(std::int64_t step) const;
  // Returns the steps of the complete checkpoints, in ascending order.
  std::vector<std::int64_t> checkpoint_steps() const;

  // Returns the target of `last` or, if that is missing, the newest complete checkpoint.
  std::optional<Path> last() const;
  // Throws DamagedError if the target of `last` exists but is not a checkpoint.
  void check_last() const;
  // Returns the last intact checkpoint: the target of `last`, else an earlier one, else a later
  // one. Logs a warning for each damaged one. Prefers unchanged checkpoints to those of which only
  // config.yaml has changed. Returns nullopt if the run has no checkpoints. Throws CheckpointError
  // if all are damaged.
  std::optional<Path> last_intact() const;
  // Renames folders that have the name of a checkpoint but are not one, with a warning.
  void move_damaged_away();
  // Returns the target of `best`; nullopt if there is none or it is missing.
  std::optional<Path> best() const;
  // Returns the step of that checkpoint.
  std::optional<std::int64_t> best_step() const;
  // Set the links. The checkpoint must be complete. Throw EnvironmentError if the link cannot be
  // written.
  void set_last(std::int64_t step);
  void set_best(std::int64_t step);

  // Removes all checkpoints except the newest `keep_newest`, the first `keep_best` existing ones of
  // the ranking, and the targets of `last` and `best`. Logs a warning if one cannot be removed, so
  // that training continues.
  void prune(std::size_t keep_newest, std::size_t keep_best,
             const std::vector<std::int64_t>& ranking);

 private:
  void clear_all_leftovers() const;
  void replace_copied_links();
  void adopt_copied_checkpoint(const char* link);
  std::optional<Path> follow(const char* link) const;
  std::vector<std::int64_t> folder_steps() const;
  std::vector<std::int64_t> recovery_order() const;
  void set_link(const char* link, std::int64_t step);

  Path path_;
  int lock_ = -1;
};

// Returns the model folder for a path given by the user: a run folder (its best checkpoint, else
// its last) or a folder with model.safetensors. Otherwise throws CheckpointError with a list of
// models near the path.
std::filesystem::path resolve_model(const std::filesystem::path& path);

}  // namespace regard
