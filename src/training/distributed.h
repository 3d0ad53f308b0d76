// The beginning of a training by several processes: each finds its place, all compare what they are
// about to train, and those without the run folder get copies of the files that they need.
// training/process_group connects them.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/json.h"
#include "training/process_group.h"

namespace regard {

// Reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT or, if WORLD_SIZE is not set but MASTER_ADDR
// is, SLURM_PROCID and SLURM_STEP_NUM_TASKS of a job step. Without these variables the process is
// alone. `variable` returns the value of a variable, "" if it is not set. Throws ConfigError.
ProcessPlace process_place(const std::function<std::string(const std::string&)>& variable);
ProcessPlace process_place();

// Compares what the processes are about to train: objects of text by a name such as
// "configuration". Throws ConfigError with the first difference if one differs from that of rank 0;
// then all processes throw.
void check_equal(ProcessGroup& group, const Json& facts);

// Gives all processes the folder `folder` of rank 0 (empty: none): returns its path on rank 0, and
// a copy below `below` on the others.
std::optional<std::filesystem::path> share_folder(
    ProcessGroup& group, const std::optional<std::filesystem::path>& folder,
    const std::filesystem::path& below);

// A folder for the files of a process that has not rank 0; removed with this object.
class TemporaryFolder {
 public:
  TemporaryFolder();  // throws EnvironmentError
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // descriptor of the folder, which a process holds locked while it runs
};

}  // namespace regard
