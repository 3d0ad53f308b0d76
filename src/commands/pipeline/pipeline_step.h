// The steps of a pipeline as commands, and the record of those that ran.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "config/pipeline_plan.h"

namespace regard {

struct PipelineStep {
  std::string name;
  std::vector<std::string> words;             // the command and its options
  std::map<std::string, std::string> inputs;  // SHA-256 of each file that no step makes
  std::string result;                         // OUT/NAME; `synthesize` adds suffixes
  std::vector<std::size_t> needs;             // indices of earlier steps
  std::string digest;                         // of words, inputs and the digests of `needs`
  bool takes_threads = false;                 // accepts --threads, which is not given

  const std::string& command() const { return words.front(); }
  // True if the result is the standard output of the command.
  bool prints_result() const { return command() == "evaluate" || command() == "score"; }
};

// Returns the commands of a plan, in order. Checks the options of each command and the
// configurations of all trainings. Throws ConfigError or InputError with file:line.
std::vector<PipelineStep> make_steps(const PipelinePlan& plan);

// Returns "regard" and the words, with those in quotes that a shell would change.
std::string shell_command(const std::vector<std::string>& words);

// The file OUT/.pipeline.json, which says how each result was made.
class PipelineRecord {
 public:
  // Throws CheckpointError if the file is damaged.
  explicit PipelineRecord(const std::filesystem::path& out);

  // Returns true if the step has ended and its result is there.
  bool is_done(const PipelineStep& step) const;
  // Returns why an existing result is not that of the step; empty if it is, or if there is none.
  std::string difference(const PipelineStep& step) const;
  // Returns the seconds that the step took, in all sessions.
  double seconds(const PipelineStep& step) const;
  // Renames all files of an existing result to NAME.old-N.
  void move_away(const PipelineStep& step);
  // Records that the step begins or goes on, after the sessions that took `seconds`, or is done.
  void put(const PipelineStep& step, double seconds, bool is_done);

 private:
  const Json* entry(const PipelineStep& step) const;

  std::filesystem::path path_;
  Json steps_ = Json::object();
};

}  // namespace regard
