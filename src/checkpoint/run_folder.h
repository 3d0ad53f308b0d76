// The checkpoints of one training run:
//
//     runs/x/checkpoints/step-00001000/   complete checkpoints, see folder.h
//     runs/x/last, runs/x/best            links to two of them, replaced in one step
//     runs/x/.lock                        held by the trainer at work here
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

  // Makes the folder and keeps it for this process until the object or the process ends, however
  // it ends; then puts in order what a killed trainer left. EnvironmentError gives the process id
  // of a trainer that is already at work. Whatever writes below needs the lock.
  void lock();

  // EnvironmentError if the folder that was locked is no longer at its path: moved, deleted or
  // replaced. Does nothing before lock(). Call it before each write below the path, so that
  // nothing is created in a folder that another process may own by now.
  void check_in_place() const;

  // Where the checkpoint of this step stands, or would stand.
  Path checkpoint(std::int64_t step) const;
  // The steps of the complete checkpoints, ascending.
  std::vector<std::int64_t> list() const;

  // The newest checkpoint: the link's target; if that is gone, the newest complete one.
  std::optional<Path> last() const;
  // DamagedError where the link's target is there, but no checkpoint.
  void check_last() const;
  // The last checkpoint of which every file is sound: that of the link, else one before it, else
  // one behind it. What is damaged is named in a warning. One whose config.yaml alone has changed
  // comes behind all that are as they were written. CheckpointError where there is
  // something of checkpoints and none is sound.
  std::optional<Path> last_sound() const;
  // Whatever has the name of a checkpoint and is none makes place, with a warning.
  void set_damaged_aside();
  // The link's target, nothing if there is none or it is gone.
  std::optional<Path> best() const;
  // The step of the checkpoint that `best` leads to.
  std::optional<std::int64_t> best_step() const;
  // The checkpoint must be complete. EnvironmentError if the link cannot be written.
  void set_last(std::int64_t step);
  void set_best(std::int64_t step);

  // Removes all checkpoints but the newest `keep_newest`, the first `keep_best` of the ranking that
  // are there, and those that last and best point to. What cannot be removed is a warning: it must
  // not end a training.
  void prune(std::size_t keep_newest, std::size_t keep_best,
             const std::vector<std::int64_t>& ranking);

 private:
  void clear_all_leftovers() const;
  void replace_copied_links();
  void adopt_copied_checkpoint(const char* link);
  std::optional<Path> follow(const char* link) const;
  std::vector<std::int64_t> all_steps() const;
  std::vector<std::int64_t> from_last_on() const;
  void set_link(const char* link, std::int64_t step);

  Path path_;
  int lock_ = -1;
};

// The model to translate with, from what the user gave: a run folder (its best checkpoint, else
// its last) or a folder that holds model.safetensors. Otherwise CheckpointError, which says what
// was looked for and names the models near by.
std::filesystem::path resolve_model(const std::filesystem::path& path);

}  // namespace regard
