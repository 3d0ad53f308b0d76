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

// Returns "regard" and the words, for a shell.
std::string shell_command(const std::vector<std::string>& words);

// The file OUT/.pipeline.json, which says how each result was made, and from which results.
class PipelineRecord {
 public:
  // Refers to `steps`. Throws CheckpointError if the file is damaged.
  PipelineRecord(const std::filesystem::path& out, const std::vector<PipelineStep>& steps);

  // Returns true if the step has ended, its result is there, and so are the results from which it
  // was made.
  bool is_done(const PipelineStep& step) const;
  // Returns true if the step has ended, and some files of its result are gone.
  bool is_incomplete(const PipelineStep& step) const;
  // Returns why an existing result is not that of the step; empty if it is, or if there is none.
  // Needed results that are to be made do not count.
  std::string difference(const PipelineStep& step) const;
  // Returns the seconds that the result took, in all sessions; 0 if it is not there.
  double seconds(const PipelineStep& step) const;
  // Renames all files of an existing result to NAME.old-N.
  void move_away(const PipelineStep& step);
  // Records that the step begins or goes on, after the sessions that took `seconds`, or is done.
  void put(const PipelineStep& step, double seconds, bool is_done);

 private:
  const Json* entry(const PipelineStep& step) const;
  // Returns the SHA-256 of what other steps read of a result; empty if it is not there.
  const std::string& result_digest(const PipelineStep& step) const;
  // True if the result of `need` is another one than that from which the step was made.
  bool has_changed(const PipelineStep& need, const PipelineStep& step) const;

  std::filesystem::path path_;
  const std::vector<PipelineStep>& steps_;
  Json entries_ = Json::object();
  mutable std::map<std::string, std::string> digests_;  // of results, by step
};

}  // namespace regard
