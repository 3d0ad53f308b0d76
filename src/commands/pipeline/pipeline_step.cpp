#include "commands/pipeline/pipeline_step.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "cli/command_line.h"
#include "config/check.h"
#include "config/reader.h"
#include "data/text_path.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using StepWords = std::vector<std::string>;

const StepWords step_commands = {"train",      "prepare",  "features", "translate",
                                 "synthesize", "evaluate", "score",    "rerank",
                                 "shortlist",  "average",  "quantize", "report"};

// The options of these commands that name a file to read, which must be there.
constexpr const char* input_options[] = {"--config", "--input",      "--src",    "--trg",
                                         "--ref",    "--hypotheses", "--n-best", "--weights"};

// The digest of a result is that of the file, or of the first of these files in the folder.
constexpr const char* result_parts[] = {"", "/best/model.safetensors", "/last/model.safetensors",
                                        "/model.safetensors", "/prepared.json"};

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool has(const StepWords& words, const std::string& word) {
  return std::ranges::count(words, word) > 0;
}

std::string file_digest(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 hash;
  std::string block(1 << 20, '\0');
  while (file.read(block.data(), std::ssize(block)) || file.gcount() > 0) {
    hash.update({block.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (!file.eof()) throw InputError("{}: cannot be read", path);
  return hash.hex_digest();
}

// Parses the words of a step. Returns the message of a usage error, or "".
std::string usage_fault(CommandLine& command_line, const StepWords& words) {
  try {
    return command_line.find_fault(words).value_or("");
  } catch (const std::runtime_error&) {
    return "found a request for help";
  }
}

// Returns the files or folders that a step writes.
StepWords result_files(const PipelineStep& step) {
  if (step.command() != "synthesize") return {step.result};
  StepWords files;
  for (const auto* suffix : {".json", ".src", ".trg", ".src.part", ".trg.part"}) {
    files.push_back(step.result + suffix);
  }
  return files;
}

// True if a file of result_files() is there, or is one that is there only during the step.
bool is_complete(const std::string& file) {
  return file.ends_with(".part") || is_there(file);
}

// Turns the steps of a plan into commands.
class StepMaker {
 public:
  explicit StepMaker(const PipelinePlan& plan) : plan_(plan) {}

  PipelineStep make(const PlannedStep& planned) {
    place_ = fmt::format("{}:{}: {}", plan_.path, planned.line, planned.name);
    PipelineStep step;
    step.name = planned.name;
    step.words = planned.words;
    step.result = plan_.out + "/" + step.name;
    if (!has(step_commands, step.command())) {
      throw ConfigError("{}: unknown command `{}`; expected one of {}{}", place_, step.command(),
                        fmt::join(step_commands, ", "),
                        did_you_mean(step.command(), step_commands));
    }
    reject_output(step);
    if (step.command() == "train") {
      step.words.push_back("training.model_dir=" + step.result);
    } else if (step.prints_result()) {
      const bool prints_list = std::ranges::any_of(
          step.words, [](const auto& word) { return word.starts_with("--n-best"); });
      const bool prints_json = has(step.words, "--json");
      if (!prints_json && !prints_list) step.words.emplace_back("--json");
    } else {
      step.words.insert(step.words.end(), {"--output", step.result});
    }
    check(step);
    find_inputs(step);
    std::string text = to_text(Json{{"words", step.words}, {"inputs", step.inputs}});
    for (const auto& name : planned.needs) {
      step.needs.push_back(made_.at(name).first);
      text += made_.at(name).second;
    }
    step.digest = sha256(text);
    made_[step.name] = {made_.size(), step.digest};
    return step;
  }

 private:
  // Throws ConfigError if the plan sets the output of a step, or the form of its scores.
  void reject_output(const PipelineStep& step) const {
    CommandLine planned;
    usage_fault(planned, step.words);  // at least that of the missing output
    // `evaluate --output` is a file of translations beside the scores.
    const bool is_evaluate = step.command() == "evaluate";
    const std::string option = is_evaluate ? "--format" : "--output";
    auto given = planned.values_of(option).value_or(StepWords());
    for (auto& word : given) word = option + " " + word;
    std::ranges::copy_if(step.words, std::back_inserter(given), [](const std::string& word) {
      return word.starts_with("training.model_dir=");
    });
    if (given.empty()) return;
    throw ConfigError("{}: found {}, but the pipeline sets the output, {}{}; remove it", place_,
                      given.front(), step.result, is_evaluate ? " (JSON)" : "");
  }

  // Checks the options, and the configuration of a training.
  void check(PipelineStep& step) {
    CommandLine command_line;
    auto fault = usage_fault(command_line, step.words);
    try {
      const auto* train = std::get_if<TrainArguments>(&command_line.parsed);
      if (fault.empty() && train != nullptr) {
        SourceLocations locations;
        const auto options = read_options(train->config, train->overrides, &locations);
        if (train->init_from.empty()) check_training_options(options, locations);
        for (const auto& pair : options.data.train) require({pair.src, pair.trg}, step);
        require({options.data.dev.src, options.data.dev.trg}, step);
      }
    } catch (const ConfigError& error) {
      fault = error.what();
    }
    if (!fault.empty()) throw ConfigError("{}: {}", place_, fault);
    for (const std::string option : input_options) {
      if (option == "--n-best" && step.command() != "score") continue;  // a number
      if (const auto files = command_line.values_of(option)) require(*files, step);
    }
    const auto threads = command_line.values_of("--threads");
    step.takes_threads = threads && threads->empty();
  }

  // Throws InputError for a file that is not there, unless a step writes it.
  void require(const StepWords& files, PipelineStep& step) {
    for (const auto& file : files) {
      if (!file.empty() && !is_made(file) && !is_there(file_of_text(file))) {
        throw InputError("{}: found no file {}, expected an input of `regard {}`", place_, file,
                         step.command());
      }
      add_input(file, step);
    }
  }

  void find_inputs(PipelineStep& step) {
    for (const auto& word : step.words) {
      add_input(word, step);
      add_input(word.substr(word.find('=') + 1), step);
    }
  }

  void add_input(const std::string& text, PipelineStep& step) {
    const auto path = file_of_text(text);
    if (is_made(path) || !is_file(path)) return;
    auto& digest = digests_[path];
    if (digest.empty()) digest = file_digest(path);
    step.inputs[path] = digest;
  }

  bool is_made(const std::string& path) const { return path.starts_with(plan_.out + "/"); }

  const PipelinePlan& plan_;
  std::string place_;                                                // of the step, for messages
  std::map<std::string, std::string> digests_;                       // of files
  std::map<std::string, std::pair<std::size_t, std::string>> made_;  // indices and digests of steps
};

}  // namespace

std::vector<PipelineStep> make_steps(const PipelinePlan& plan) {
  StepMaker maker(plan);
  std::vector<PipelineStep> steps;
  for (const auto& planned : plan.steps) steps.push_back(maker.make(planned));
  return steps;
}

std::string shell_command(const StepWords& words) {
  std::string command = "regard";
  for (const auto& word : words) command += " " + shell_word(word);
  return command;
}

PipelineRecord::PipelineRecord(const fs::path& out, const std::vector<PipelineStep>& steps)
    : path_(out / ".pipeline.json"), steps_(steps) {
  if (!is_file(path_)) return;
  entries_ = parse_json(read_file<CheckpointError>(path_, "record"));
  const auto is_entry = [](const Json& entry) {
    return entry.is_object() && entry.value("digest", Json()).is_string() &&
           entry.value("words", Json()).is_array() && entry.value("inputs", Json()).is_object() &&
           entry.value("needs", Json()).is_object() && entry.value("seconds", Json()).is_number() &&
           entry.value("done", Json()).is_boolean();
  };
  if (!entries_.is_object() || !std::ranges::all_of(entries_, is_entry)) {
    throw CheckpointError("{}: damaged; remove it and start again with --fresh", path_.string());
  }
}

const Json* PipelineRecord::entry(const PipelineStep& step) const {
  const auto found = entries_.find(step.name);
  return found == entries_.end() ? nullptr : &*found;
}

const std::string& PipelineRecord::result_digest(const PipelineStep& step) const {
  auto& digest = digests_[step.name];
  if (digest.empty()) {
    std::string text;
    for (const auto& file : result_files(step)) {
      for (const auto* part : result_parts) {
        if (!is_file(file + part)) continue;
        text += file_digest(file + part);
        break;
      }
    }
    if (!text.empty()) digest = sha256(text);
  }
  return digest;
}

bool PipelineRecord::has_changed(const PipelineStep& need, const PipelineStep& step) const {
  return entry(step)->at("needs").value(need.name, "") != result_digest(need);
}

bool PipelineRecord::is_done(const PipelineStep& step) const {
  const auto* known = entry(step);
  return known != nullptr && known->at("digest") == step.digest && known->at("done") == true &&
         std::ranges::all_of(result_files(step), is_complete) &&
         std::ranges::all_of(step.needs, [&](auto need) {
           return is_done(steps_[need]) && !has_changed(steps_[need], step);
         });
}

bool PipelineRecord::is_incomplete(const PipelineStep& step) const {
  const auto* known = entry(step);
  const auto files = result_files(step);
  return known != nullptr && known->at("done") == true && std::ranges::any_of(files, is_there) &&
         !std::ranges::all_of(files, is_complete);
}

std::string PipelineRecord::difference(const PipelineStep& step) const {
  const auto* known = entry(step);
  if (std::ranges::none_of(result_files(step), is_there)) return "";
  if (known == nullptr) return step.result + " was not made by this plan";
  if (known->at("digest") == step.digest) {
    for (const auto index : step.needs) {
      const auto& need = steps_[index];
      if (is_done(need) && has_changed(need, step)) return need.result + " has changed";
    }
    return "";
  }
  const auto& before = known->at("words");
  const Json now = step.words;
  const auto only_in = [](const Json& all, const Json& others) {
    std::string words;
    for (const auto& word : all) {
      if (std::ranges::count(others, word) == 0) words += " " + word.get<std::string>();
    }
    return words.empty() ? " no more" : words;
  };
  if (now != before) {
    return fmt::format("now with{}; before with{}", only_in(now, before), only_in(before, now));
  }
  for (const auto& [file, digest] : step.inputs) {
    if (known->at("inputs").value(file, Json()) != digest) return file + " has changed";
  }
  return "needs a changed step";
}

double PipelineRecord::seconds(const PipelineStep& step) const {
  const auto* known = entry(step);
  const bool is_same = known != nullptr && known->at("digest") == step.digest &&
                       std::ranges::any_of(result_files(step), is_there);
  return is_same ? known->at("seconds").get<double>() : 0;
}

void PipelineRecord::move_away(const PipelineStep& step) {
  const auto files = result_files(step);
  const auto aside = [](const std::string& file, int n) {
    return fmt::format("{}.old-{}", file, n);
  };
  int n = 1;
  while (std::ranges::any_of(files, [&](auto& file) { return is_there(aside(file, n)); })) ++n;
  for (const auto& file : files) {
    if (is_there(file)) fs::rename(file, aside(file, n));
  }
}

void PipelineRecord::put(const PipelineStep& step, double seconds, bool is_done) {
  digests_.erase(step.name);
  auto needs = Json::object();
  for (const auto need : step.needs) needs[steps_[need].name] = result_digest(steps_[need]);
  entries_[step.name] = {{"digest", step.digest}, {"words", step.words}, {"inputs", step.inputs},
                         {"needs", needs},        {"seconds", seconds},  {"done", is_done}};
  write_file(path_, to_text(entries_, 1) + "\n");
}

}  // namespace regard
