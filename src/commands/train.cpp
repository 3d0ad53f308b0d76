// regard train: trains a model from a configuration and parallel text; resumes a stopped run.
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/strings.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "checkpoint/run_folder.h"
#include "commands/commands.h"
#include "commands/model_report.h"
#include "commands/output_file.h"
#include "config/check.h"
#include "config/reader.h"
#include "data/batch_sampler.h"
#include "data/line_reader.h"
#include "data/text_path.h"
#include "model/build_model.h"
#include "report/format.h"
#include "training/distributed.h"
#include "training/initial_model.h"
#include "training/minimum_risk.h"
#include "training/resumable_state.h"
#include "training/run_files.h"
#include "training/setup.h"
#include "training/signals.h"
#include "training/train_step.h"
#include "training/trainer.h"
#include "translation/model_folder.h"

namespace regard {
namespace {

// Throws InputError, with the key and where it was set, for a file that does not exist.
void check_corpora_exist(const DataOptions& data, const SourceLocations& locations) {
  const auto check = [&](const std::string& key, const std::string& path) {
    std::error_code ignored;
    if (path.empty()) return;
    if (std::filesystem::exists(file_of_text(path), ignored)) return warn_of_missing_column(path);
    const bool needs_shell = path.starts_with('~') || path.find('$') != std::string::npos;
    const auto hint =
        needs_shell ? "; ~ and $ have no meaning in a path here, write it out"
        : std::filesystem::path(path).is_relative()
            ? fmt::format(" (in {}, the current folder)", std::filesystem::current_path().string())
            : "";
    throw InputError("{}: {}: no such file: {}{}", locations.of(key), key, path, hint);
  };
  for (std::size_t i = 0; data.prepared.empty() && i < data.train.size(); ++i) {
    check(fmt::format("data.train.{}.src", i), data.train[i].src);
    check(fmt::format("data.train.{}.trg", i), data.train[i].trg);
  }
  check("data.dev.src", data.dev.src);
  check("data.dev.trg", data.dev.trg);
}

// The options of the configuration and the command line, not checked yet.
struct GivenOptions {
  Options options;
  SourceLocations locations;
};

GivenOptions read_given_options(const TrainArguments& arguments) {
  auto overrides = arguments.overrides;
  if (!arguments.device.empty()) overrides.push_back("device=" + arguments.device);
  if (arguments.threads) overrides.push_back(fmt::format("threads={}", *arguments.threads));
  GivenOptions given;
  given.options = read_options(arguments.config, overrides, &given.locations);
  given.options.training.model_dir = run_folder(given.options, given.locations);
  return given;
}

// Throws CheckpointError with the fault of a damaged checkpoint and how the run can be continued.
// For the first process: the others have a copy of the checkpoint.
[[noreturn]] void explain_damage(const RunFolder& run, const std::string& fault,
                                 const std::filesystem::path& damaged) {
  const bool others = std::ranges::any_of(run.checkpoint_steps(), [&](std::int64_t step) {
    return run.checkpoint(step).filename() != damaged.filename();
  });
  throw CheckpointError(
      "{}\n{}", fault,
      others ? fmt::format("Remove {} to resume from the checkpoint before it, or start over with "
                           "--fresh",
                           damaged.string())
             : "It is the only checkpoint of the run: --fresh starts over");
}

// Returns the initial model of a run that starts, or resumes from `last`; empty without one.
std::string initial_model(const RunFolder& run, const TrainArguments& arguments,
                          const std::optional<std::filesystem::path>& last,
                          const ProcessGroup& group) {
  if (!last || !arguments.init_from.empty()) return arguments.init_from;
  try {
    return retry_if_removed([&] { return initial_model_of(FolderReader(*last)); });
  } catch (const DamagedError& error) {
    if (!group.is_first()) throw;
    explain_damage(run, error.what(), *last);
  }
}

struct CompleteOptions {
  Options options;
  std::string adopted;  // a message about the keys that a new run takes from its initial model
};

// Returns the complete options of a run that starts, or resumes from `last`, after all checks.
CompleteOptions complete_options(GivenOptions given,
                                 const std::optional<std::filesystem::path>& last,
                                 const std::string& init_from) {
  CompleteOptions complete;
  std::vector<std::string> adopted;
  if (!init_from.empty()) {
    std::filesystem::path folder;
    adopted = retry_if_removed([&] {
      folder = last ? *last : resolve_model(init_from);
      return adopt_options(given.options, given.locations,
                           read_model_options(FolderReader(folder)));
    });
    if (!adopted.empty() && !last) {
      complete.adopted =
          fmt::format("adopted from {}: {}", folder.string(), fmt::join(adopted, ", "));
    }
  } else if (!last) {
    check_no_extension(given.options.data.tokenizer, given.locations);
  }
  const auto& [options, locations] = given;
  try {
    check_training_options(options, locations);
    check_model_to_train(options, locations);
    check_parameter_patterns(options);
  } catch (const ConfigError& error) {
    if (adopted.empty()) throw;
    throw ConfigError("{}\n(adopted from {}: {})", error.what(), last ? last->string() : init_from,
                      fmt::join(adopted, ", "));
  }
  check_corpora_exist(options.data, locations);
  complete.options = options;
  return complete;
}

// Returns the command line, with its words separated by blanks.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words;
}

// Returns the checkpoint to resume from, if any.
std::optional<std::filesystem::path> checkpoint_to_resume(const RunFolder& run,
                                                          const TrainArguments& arguments) {
  if (arguments.fresh) return std::nullopt;
  if (const auto damaged = run.incomplete_last()) {
    explain_damage(run,
                   fmt::format("{}: missing, though `last` points to its folder",
                               (*damaged / manifest_name).string()),
                   *damaged);
  }
  return run.last();
}

// Like make_setup(), but also verifies the training state of the checkpoint.
Setup make_setup_from(const RunFolder& run, const Options& options,
                      const std::optional<std::filesystem::path>& last,
                      const std::string& init_from, ProcessGroup& group) {
  try {
    auto setup = make_setup(options, last, init_from, group);
    if (setup.checkpoint) verify_state(*setup.checkpoint);
    return setup;
  } catch (const DamagedError& error) {
    if (!last || !group.is_first()) throw;
    explain_damage(run, error.what(), *last);
  }
}

// The first updates of a run, measured.
struct TrialSteps {
  StepResult first;
  std::int64_t steps = 0;
  double seconds_per_step = 0;  // without the first step if there are others
};

// Makes a few steps, at least two, with a learning rate of 0: no weight changes. `epoch` must have
// batches.
TrialSteps try_steps(const Setup& setup, BatchSampler& batches, std::int64_t epoch,
                     ProcessGroup& alone) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t most_steps = 11;
  constexpr std::chrono::seconds time_limit(5);
  const auto& options = setup.options.training;
  std::optional<MinimumRisk> minimum_risk;
  if (options.objective == Objective::minimum_risk) {
    minimum_risk.emplace(setup.options, setup.corpus->codec());
  }
  TrainedModel trained(setup.model, options);
  trained.model->train();
  TrialSteps trial;
  std::int64_t next = 0;
  const auto end = Clock::now() + time_limit;
  auto begin = Clock::now();
  while (trial.steps < 2 || (trial.steps < most_steps && Clock::now() < end)) {
    std::vector<Batch> of_step;
    for (std::int64_t i = 0; i < options.gradient_accumulation; ++i) {
      of_step.push_back(batches.batch(epoch, next++ % batches.count(epoch)).to(setup.device));
    }
    const auto result = train_step(
        trained, of_step, {trial.steps + 1, 0, 0, {}, minimum_risk ? &*minimum_risk : nullptr},
        options, *setup.pool, alone);
    if (trial.steps++ == 0) {  // it allocates memory
      trial.first = result;
      begin = Clock::now();
    }
  }
  const std::chrono::duration<double> taken = Clock::now() - begin;
  trial.seconds_per_step = taken.count() / static_cast<double>(trial.steps - 1);
  return trial;
}

// "about 0:52 an epoch and 8:40 up to step 1,000", of which `done` steps are done
std::string estimated_time(const TrainingOptions& options, std::int64_t batches_in_epoch,
                           double seconds_per_step, std::int64_t done) {
  const auto of_steps = [&](std::int64_t steps) {
    return format_duration(seconds_per_step * static_cast<double>(steps));
  };
  const auto end = last_step(options, batches_in_epoch);
  return fmt::format(
      "about {} an epoch{}", of_steps(updates_in_epoch(options, batches_in_epoch)),
      end ? fmt::format(" and {} up to step {}", of_steps(std::max<std::int64_t>(0, *end - done)),
                        format_thousands(*end))
          : "");
}

// Throws EnvironmentError if the run could not write its folder, or create it.
void check_writable(const std::filesystem::path& folder) {
  auto existing = std::filesystem::absolute(folder);
  std::error_code ignored;
  while (!std::filesystem::exists(existing, ignored)) existing = existing.parent_path();
  if (::access(existing.c_str(), W_OK) == 0) return;
  throw EnvironmentError("{}: cannot write into {} ({}); choose another place", folder.string(),
                         existing.string(), std::strerror(errno));
}

// Runs a few steps as the run would start or resume. Writes nothing.
void dry_run(const TrainArguments& arguments) {
  auto given = read_given_options(arguments);
  const RunFolder run(given.options.training.model_dir);
  check_run_folder(run);
  check_writable(run.path());
  const auto last = checkpoint_to_resume(run, arguments);
  ProcessGroup alone;
  const auto init_from = initial_model(run, arguments, last, alone);
  const auto [options, adopted] = complete_options(std::move(given), last, init_from);
  if (!adopted.empty()) log::info("{}", adopted);
  const auto setup = make_setup_from(run, options, last, init_from, alone);
  if (last) warn_of_changes(run, setup);
  auto batches = make_sampler(setup);
  std::int64_t epoch = 0;
  while (batches.count(epoch) == 0) ++epoch;  // with corpus weights below 1 an epoch can be empty
  const auto in_epoch = batches.count(epoch);
  const auto trial = try_steps(setup, batches, epoch, alone);
  const auto done = setup.checkpoint ? saved_step(*setup.checkpoint) : 0;
  log::info("Dry run{}: {} per epoch; the first step has {} and {}, loss {}",
            last ? fmt::format(", resuming from step {} ({})", done, last->string()) : "",
            counted(in_epoch, "batch"), counted(trial.first.sentences, "sentence"),
            counted(trial.first.target_tokens, "target token"),
            format_fixed(trial.first.nll / static_cast<double>(trial.first.target_tokens), 4));
  log::info(
      "A step takes {} s, the mean of {}: {}, without validations. Memory so far: {}. Nothing was "
      "written.",
      format_short(trial.seconds_per_step), trial.steps - 1,
      estimated_time(options.training, in_epoch, trial.seconds_per_step, done),
      format_bytes(peak_memory()));
}

// Returns the checkpoint to roll back to after a loss or gradient that is not finite: the last one
// or, if the attempt that began at `start_step` made no step, the one before its start.
std::optional<std::filesystem::path> rollback_checkpoint(const RunFolder& run,
                                                         std::int64_t start_step,
                                                         std::int64_t step) {
  if (step > start_step) return run.last();
  std::optional<std::filesystem::path> earlier;
  for (const auto saved : run.checkpoint_steps()) {
    if (saved < start_step) earlier = run.checkpoint(saved);
  }
  return earlier;
}

// Trains. If it diverges, rolls back to an earlier checkpoint with half of the learning rate, up to
// a limit.
StopReason train_with_rollbacks(Setup& setup, RunFolder& run, Validator* validator,
                                std::unique_ptr<Trainer>& trainer, ProcessGroup& group) {
  const SignalCatcher signals;
  for (;;) {
    const auto start_step = trainer->position().step;
    try {
      return trainer->run(signals);
    } catch (const DivergedError& error) {
      const auto back = share_folder(
          group, rollback_checkpoint(run, start_step, trainer->position().step), run.path());
      if (!back || trainer->rollbacks().count == max_rollbacks) {
        const auto last = run.last();
        if (group.is_first()) {
          record_end(run, trainer->position().step, "no finite loss or gradient any more");
        }
        throw DivergedError("{}.\n{}", error.what(),
                            last ? fmt::format("The last checkpoint is kept: {}.", last->string())
                                 : "There is no checkpoint yet.");
      }
      log::warning("{}.\nRolling back to {}, with half of the learning rate from there.",
                   error.what(), back->string());
      const auto rollbacks = trainer->rollbacks();
      trainer.reset();
      roll_back(setup, *back);
      trainer = std::make_unique<Trainer>(setup, run, validator, group);
      trainer->roll_back(rollbacks);
    }
  }
}

// Logs the best validation and the checkpoint that `translate` uses. They differ if a checkpoint
// was removed before a change of early_stopping_metric made it the best one.
void log_best(const RunFolder& run, const Trainer& trainer, const Options& options) {
  const auto best = trainer.early_stopping().best_step();
  if (!best) return;
  const auto name = enum_name(options.training.early_stopping_metric);
  const auto linked = run.best_step();
  if (linked == best && options.model.kind == ModelKind::masked_language_model) {
    log::info("The best validation by {} was at step {}; --init-from uses that checkpoint.", name,
              *best);
  } else if (linked == best && best == 0) {
    log::info(
        "The best validation by {} was before the first step: the initial model, which translate "
        "uses.",
        name);
  } else if (linked == best) {
    log::info("The best validation by {} was at step {}; translate uses that checkpoint.", name,
              *best);
  } else if (linked) {
    log::info(
        "The best validation by {} was at step {}, whose checkpoint was removed "
        "(training.keep_best); translate uses the one of step {} (the link best).",
        name, *best, *linked);
  } else {
    log::info("The best validation by {} was at step {}; translate uses the last checkpoint.", name,
              *best);
  }
}

// Returns the command that uses a trained model, without the folder at its end.
const char* next_command(ModelKind kind) {
  switch (kind) {
    case ModelKind::language_model:
      return "Score text with: regard score -t FILE -m ";
    case ModelKind::masked_language_model:
      return "Start a translation model with: regard train -c CONFIG --init-from ";
    case ModelKind::translation:
      break;
  }
  return "Translate with: regard translate -m ";
}

void log_end(const RunFolder& run, const Trainer& trainer, const StopReason& reason,
             const Options& options) {
  log::info("Stopped at step {}: {}.", trainer.position().step, reason.message);
  log_best(run, trainer, options);
  if (const auto skipped = trainer.position().skipped; skipped > 0) {
    log::warning("Skipped {} with a loss or gradient that was not finite.",
                 counted(skipped, "batch"));
  }
  if (reason.signal != 0) log::info("Run the same command again to resume.");
  log::info("{}{}", next_command(options.model.kind), shell_word(run.path().string()));
}

void print_report(const RunFolder& run) {
  write_output("", to_text(to_json(read_model_report(run.path())), 2) + "\n");
}

// Says which objective is not −log P, and what the losses in the log are then; "" for −log P.
std::string objective_text(const Options& options) {
  const auto& training = options.training;
  if (training.objective == Objective::minimum_risk) {
    const auto& risk = training.minimum_risk;
    return fmt::format(
        "The objective is the expected risk, 1 − {}, of {} of each sentence{}; the losses below "
        "are −log P(y | x) of the references (training.minimum_risk).",
        risk.metric == RiskMetric::bleu ? "BLEU" : "chrF", counted(risk.samples, "sample"),
        risk.include_reference ? " and its reference" : "");
  }
  if (training.label_smoothing > 0) {
    return fmt::format(
        "The objective is −log P{} with label smoothing {}{}; the losses below are without "
        "(training.label_smoothing{}).",
        options.model.kind == ModelKind::translation ? "(y | x)" : "", training.label_smoothing,
        training.r_drop > 0 ? " and R-Drop" : "", training.r_drop > 0 ? ", training.r_drop" : "");
  }
  if (training.r_drop == 0) return "";
  return "The objective is −log P with R-Drop; the losses below are without (training.r_drop).";
}

ExitCode train_together(const TrainArguments& arguments, ProcessGroup& group) {
  auto given = read_given_options(arguments);
  std::optional<TemporaryFolder> temporary;
  if (!group.is_first()) temporary.emplace();
  RunFolder run(temporary ? temporary->path().string() : given.options.training.model_dir);
  check_run_folder(run);
  // A new run folder is created only after the options have been checked.
  std::error_code ignored;
  const bool is_new = !std::filesystem::exists(run.path(), ignored);
  if (!is_new) run.lock();
  const auto last = share_folder(
      group, group.is_first() ? checkpoint_to_resume(run, arguments) : std::nullopt, run.path());
  const auto init_from = initial_model(run, arguments, last, group);
  const auto [options, adopted] = complete_options(std::move(given), last, init_from);
  if (is_new) {
    run.lock();
    if (run.last()) {
      throw EnvironmentError(
          "{}: another process has trained here since this one was started; start it again to "
          "resume",
          run.path().string());
    }
  }
  if (last && !arguments.init_from.empty()) {
    log::info("--init-from is ignored: the run resumes from {}.", last->string());
  }
  log::open_file((run.path() / "train.log").string());
  if (!adopted.empty()) log::info("{}", adopted);
  auto setup = make_setup_from(run, options, last, init_from, group);
  // All checks have passed: files may be replaced from here on. Reading the text can take minutes.
  run.check_not_moved();
  if (arguments.fresh) remove_run_files(run);

  auto validator = setup.dev ? std::make_unique<Validator>(setup.options, *setup.dev, setup.device,
                                                           *setup.pool, group)
                             : std::unique_ptr<Validator>();
  // A new run writes its manifest before the trainer creates any file, so that a run killed early
  // is recognised as a run.
  const auto record = [&] {
    if (group.is_first()) record_session(run, setup, command_line());
  };
  if (!setup.checkpoint) record();
  auto trainer = std::make_unique<Trainer>(setup, run, validator.get(), group);
  if (temporary && last) std::filesystem::remove_all(*last);  // it is read
  if (!last && !init_from.empty()) trainer->start_from(init_from);
  const bool was_finished = trainer->is_finished();
  if (setup.checkpoint) {
    if (!was_finished) {
      record();
    } else if (group.is_first()) {
      record_search_options(run, setup.options.search);
    }
  }
  const bool has_shards = setup.options.training.shards > 0 && setup.device.is_cpu();
  auto threads = counted(setup.pool->count(), "thread");
  if (has_shards) threads += " for " + counted(setup.options.training.shards, "shard");
  if (last) {
    log::info("Resuming from step {} ({}).", trainer->position().step, last->string());
  } else {
    log::info("Training on {} with {} in {}, into {}.", setup.device.str(), threads,
              enum_name(setup.options.training.precision), run.path().string());
  }
  if (const auto text = objective_text(setup.options); !text.empty()) log::info("{}", text);
  if (!group.is_alone()) {
    log::info("{} train together, with {} in all.", counted(group.size(), "process"),
              counted(group.all_shards(), has_shards ? "shard" : "thread"));
  }
  const auto first_step = trainer->position().step;
  const auto reason = train_with_rollbacks(setup, run, validator.get(), trainer, group);
  if (was_finished && trainer->position().step == first_step && reason.signal == 0) {
    log::info(
        "This run is finished; raise the limit that stopped it to continue, or start over with "
        "--fresh.");
  }
  if (group.is_first()) {
    record_end(run, trainer->position().step, reason.message);
    log_end(run, *trainer, reason, setup.options);
    if (arguments.json) print_report(run);
  }
  if (reason.signal != 0) return static_cast<ExitCode>(128 + reason.signal);
  return ExitCode::ok;
}

}  // namespace

ExitCode train(const TrainArguments& arguments) {
  // Training continues if the program that reads its messages ends: train.log has them too.
  std::signal(SIGPIPE, SIG_IGN);
  ignore_save_signal();
  if (arguments.dry_run) {
    dry_run(arguments);
    return ExitCode::ok;
  }
  const auto place = process_place();
  if (place.rank > 0) log::set_level(log::Level::error);  // rank 0 tells what happens
  try {
    ProcessGroup group(place);
    const auto code = train_together(arguments, group);
    group.leave();
    return code;
  } catch (const Error& error) {
    if (place.size == 1) throw;
    throw Error(error.code(),
                fmt::format("process {} of {}: {}", place.rank, place.size, error.what()));
  }
}

}  // namespace regard
