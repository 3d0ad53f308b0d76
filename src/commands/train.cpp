// regard train: from a configuration and parallel text to a model; goes on where a run stopped.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "base/counted.h"
#include "base/error.h"
#include "base/log.h"
#include "checkpoint/run_folder.h"
#include "commands/commands.h"
#include "commands/model_report.h"
#include "commands/output_file.h"
#include "config/check.h"
#include "config/reader.h"
#include "data/batches.h"
#include "model/build_model.h"
#include "report/format.h"
#include "training/batch_loss.h"
#include "training/resumable_state.h"
#include "training/run_files.h"
#include "training/setup.h"
#include "training/signals.h"
#include "training/trainer.h"

namespace regard {
namespace {

// A file that is not there, by the key that names it and the place where that was set.
void check_corpora_exist(const DataOptions& data, const Origins& origins) {
  const auto check = [&](const std::string& key, const std::string& path) {
    std::error_code ignored;
    if (path.empty() || std::filesystem::exists(path, ignored)) return;
    throw InputError("{}: {}: no such file: {}", origins.of(key), key, path);
  };
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    check(fmt::format("data.train.{}.src", i), data.train[i].src);
    check(fmt::format("data.train.{}.trg", i), data.train[i].trg);
  }
  check("data.dev.src", data.dev.src);
  check("data.dev.trg", data.dev.trg);
}

Options resolve_options(const TrainArguments& arguments) {
  auto overrides = arguments.overrides;
  if (!arguments.device.empty()) overrides.push_back("device=" + arguments.device);
  if (arguments.threads) overrides.push_back(fmt::format("threads={}", *arguments.threads));
  Origins origins;
  auto options = read_options(arguments.config, overrides, &origins);
  check_training_options(options, origins);
  check_model_to_train(options, origins);
  check_corpora_exist(options.data, origins);
  if (options.training.model_dir.empty()) options.training.model_dir = "runs/" + options.name;
  return options;
}

// As the user typed it, with blanks between the words.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words;
}

// Says of a damaged checkpoint what else there is.
[[noreturn]] void explain_damage(const RunFolder& run, const DamagedError& error,
                                 const std::filesystem::path& damaged) {
  const bool others = std::ranges::any_of(run.list(), [&](std::int64_t step) {
    return run.checkpoint(step).filename() != damaged.filename();
  });
  throw CheckpointError(
      "{}\n{}", error.what(),
      others ? "--fall-back goes on from the last checkpoint of this run that is sound"
             : "It is the run's only checkpoint: --fresh starts over");
}

// What the run goes on from, where there is anything.
std::optional<std::filesystem::path> beginning(const RunFolder& run,
                                               const TrainArguments& arguments) {
  if (arguments.fresh) return std::nullopt;
  if (arguments.fall_back) return run.last_sound();
  try {
    run.check_last();
  } catch (const DamagedError& error) {
    explain_damage(run, error, "");
  }
  return run.last();
}

// As make_setup, of a checkpoint whose every file is sound.
Setup make_setup_from(const RunFolder& run, const Options& options,
                      const std::optional<std::filesystem::path>& last,
                      const std::string& init_from) {
  try {
    auto setup = make_setup(options, last, last ? "" : init_from);
    if (setup.checkpoint) verify_state(*setup.checkpoint);
    return setup;
  } catch (const DamagedError& error) {
    if (!last) throw;
    explain_damage(run, error, *last);
  }
}

// One step forward and backward, as the run would begin or go on; nothing is written.
void dry_run(const Options& options, const TrainArguments& arguments) {
  const RunFolder run(options.training.model_dir);
  check_is_for_runs(run);
  const auto last = beginning(run, arguments);
  const auto setup = make_setup_from(run, options, last, arguments.init_from);
  if (last) warn_of_changes(run, setup);
  Batches batches(*setup.corpus, {options.training.batch_size, options.training.batch_type},
                  static_cast<std::uint64_t>(options.training.random_seed),
                  sampling_for(options, *setup.model));
  std::int64_t epoch = 0;
  while (batches.count(epoch) == 0) ++epoch;  // weights below 1 can leave one without a pair
  const auto batch = batches.batch(epoch, 0).to(setup.device);
  setup.model->train();
  const auto loss = batch_loss(*setup.model, batch, options.training.label_smoothing);
  loss.objective.backward();
  log::info(
      "dry run{}: {} an epoch; the first has {} and {}, loss {}. Nothing was written",
      last ? fmt::format(", going on from {}", last->string()) : "",
      counted(batches.count(epoch), "batch"), counted(batch.size(), "sentence"),
      counted(batch.target_tokens, "target token"),
      format_fixed(loss.nll.sum().item<double>() / static_cast<double>(batch.target_tokens), 4));
}

std::unique_ptr<Trainer> make_trainer(const Setup& setup, RunFolder& run, Validator* validator) {
  return std::make_unique<Trainer>(setup.options, run, *setup.corpus, setup.model, validator,
                                   setup.device, *setup.workers,
                                   setup.checkpoint ? &*setup.checkpoint : nullptr);
}

// Where to go back to from a training that has come to no finite number: to the last checkpoint, or
// the one before where that led nowhere.
std::optional<std::filesystem::path> way_back(const RunFolder& run, std::int64_t began_at,
                                              std::int64_t step) {
  if (step > began_at) return run.last();
  std::optional<std::filesystem::path> before;
  for (const auto saved : run.list()) {
    if (saved < began_at) before = run.checkpoint(saved);
  }
  return before;
}

// Goes back a few times, with all rates halved.
StopReason train_with_setbacks(Setup& setup, RunFolder& run, Validator* validator,
                               std::unique_ptr<Trainer>& trainer) {
  const SignalCatcher signals;
  for (;;) {
    const auto began_at = trainer->position().step;
    try {
      return trainer->run(signals);
    } catch (const DivergedError& error) {
      const auto back = way_back(run, began_at, trainer->position().step);
      if (!back || trainer->setbacks().count == most_setbacks) {
        const auto last = run.last();
        record_end(run, trainer->position().step, "no finite loss or gradient any more");
        throw DivergedError("{}.\n{}", error.what(),
                            last ? fmt::format("The last checkpoint stands: {}.", last->string())
                                 : "There is no checkpoint yet.");
      }
      log::warning("{}.\nGoing back to {}, with half of the learning rate from there on.",
                   error.what(), back->string());
      const auto setbacks = trainer->setbacks();
      trainer.reset();
      go_back(setup, *back);
      trainer = make_trainer(setup, run, validator);
      trainer->set_back(setbacks);
    }
  }
}

// Names the best validation and the checkpoint that `translate` takes, which differ if the best one
// was removed before early_stopping_metric changed.
void log_best(const RunFolder& run, const Trainer& trainer, Metric metric) {
  const auto best = trainer.early_stopping().best_step();
  if (best == 0) return;
  const auto name = enum_names(metric)[static_cast<std::size_t>(metric)];
  const auto taken = run.best_step();
  if (taken == best) {
    log::info("The best validation by {} was at step {}; translate takes that checkpoint.", name,
              best);
  } else if (taken) {
    log::info(
        "The best validation by {} was at step {}, whose checkpoint was removed "
        "(training.keep_best); "
        "translate takes that of step {} (the link best).",
        name, best, *taken);
  } else {
    log::info("The best validation by {} was at step {}; translate takes the last checkpoint.",
              name, best);
  }
}

void log_end(const RunFolder& run, const Trainer& trainer, const StopReason& reason,
             Metric metric) {
  log::info("Stopped at step {}: {}.", trainer.position().step, reason.sentence);
  log_best(run, trainer, metric);
  if (const auto skipped = trainer.position().skipped; skipped > 0) {
    log::warning("Skipped {}, where the loss or the gradient was not finite.",
                 counted(skipped, "batch"));
  }
  if (reason.signal != 0) log::info("The same command goes on from there.");
  log::info("Translate with: regard translate -m {}", run.path().string());
}

void print_report(const RunFolder& run) {
  OutputFile output("");
  output.write(to_text(to_json(report_on(run.path())), 2) + "\n");
  output.commit();
}

}  // namespace

ExitCode train(const TrainArguments& arguments) {
  std::signal(SIGPIPE,
              SIG_IGN);  // training outlives whoever reads its messages: train.log has them
  ignore_saving();
  const auto options = resolve_options(arguments);
  if (arguments.dry_run) {
    dry_run(options, arguments);
    return ExitCode::ok;
  }
  RunFolder run(options.training.model_dir);
  check_is_for_runs(run);
  run.lock();
  const auto last = beginning(run, arguments);
  if (last && !arguments.init_from.empty()) {
    log::info("--init-from is of no use any more: the run goes on from {}.", last->string());
  }
  log::open_file((run.path() / "train.log").string());
  auto setup = make_setup_from(run, options, last, arguments.init_from);
  // Everything was found in order: only now is anything replaced.
  if (arguments.fresh) start_over(run);
  if (arguments.fall_back) run.set_damaged_aside();

  auto validator = setup.dev ? std::make_unique<Validator>(setup.options, *setup.dev, setup.device,
                                                           *setup.workers)
                             : std::unique_ptr<Validator>();
  // Before the trainer makes any file: a run that is killed early is known as a run.
  if (!setup.checkpoint) record_session(run, setup, command_line());
  auto trainer = make_trainer(setup, run, validator.get());
  const bool was_finished = trainer->is_finished();
  if (setup.checkpoint) {
    if (was_finished) {
      record_testing_options(run, setup.options.testing);
    } else {
      record_session(run, setup, command_line());
    }
  }
  if (last) {
    log::info("Going on from step {} ({}).", trainer->position().step, last->string());
  } else {
    log::info("Training on {} with {}, into {}.", setup.device.str(),
              counted(setup.workers->count(), "thread"), run.path().string());
  }
  const auto first_step = trainer->position().step;
  const auto reason = train_with_setbacks(setup, run, validator.get(), trainer);
  if (was_finished && trainer->position().step == first_step && reason.signal == 0) {
    log::info("This run is finished; raise what stopped it to go on, or start over with --fresh.");
  }
  record_end(run, trainer->position().step, reason.sentence);
  log_end(run, *trainer, reason, setup.options.training.early_stopping_metric);
  if (arguments.json) print_report(run);
  if (reason.signal != 0) return static_cast<ExitCode>(128 + reason.signal);
  return ExitCode::ok;
}

}  // namespace regard
