// regard train: from a configuration and parallel text to a model; goes on where a run stopped.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "checkpoint/run_folder.h"
#include "commands/commands.h"
#include "config/check.h"
#include "config/reader.h"
#include "config/writer.h"
#include "data/tokenizers.h"
#include "model/attention/table.h"
#include "model/build_model.h"
#include "training/batch_loss.h"
#include "training/run_manifest.h"
#include "training/setup_report.h"
#include "training/trainer.h"
#include "translation/device.h"
#include "translation/model_folder.h"

namespace regard {
namespace {

// A file that is not there, by the key that names it and the place where that was set.
void check_files(const DataOptions& data, const Origins& origins) {
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
  check_attention_kind(options.model.attention.kind, origins.of("model.attention.kind"));
  check_files(options.data, origins);
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

bool names_tokenizer_file(const std::string& difference) {
  return difference.starts_with("data.tokenizer.src_file") ||
         difference.starts_with("data.tokenizer.trg_file");
}

// What a checkpoint has numbers for: its model, its tokenizers, its optimizer's state.
bool is_fixed(const std::string& difference, const TrainingOptions& before,
              const TrainingOptions& now) {
  if (difference.starts_with("model.dropout") ||
      difference.starts_with("data.tokenizer.sampling") || names_tokenizer_file(difference)) {
    return false;
  }
  if (difference.starts_with("training.moving_average")) {
    return (before.moving_average > 0) != (now.moving_average > 0);
  }
  return difference.starts_with("model.") || difference.starts_with("data.tokenizer.") ||
         difference.starts_with("training.optimizer");
}

// A run goes on with what it has numbers for; the rest may change, and is named.
void compare_with_checkpoint(const FolderReader& checkpoint, const Options& options) {
  const auto before = read_model_options(checkpoint);
  std::string fixed;
  for (const auto& difference : differing_keys(before, options)) {
    if (is_fixed(difference, before.training, options.training)) {
      fixed += "\n  " + difference;
    } else {
      log::info("changed since the run began: {}{}", difference,
                names_tokenizer_file(difference) ? "; the run keeps the tokenizers it has" : "");
    }
  }
  if (fixed.empty()) return;
  throw CheckpointError(
      "{}: the run was begun otherwise:{}\nTake these back to go on with it, or begin another "
      "run in another training.model_dir (with --init-from for its weights)",
      checkpoint.path().string(), fixed);
}

// Everything that one training needs, in the order it is made.
struct Setup {
  Options options;
  torch::Device device = torch::kCPU;
  std::unique_ptr<Workers> workers;
  std::optional<FolderReader> checkpoint;  // what the run goes on from
  Tokenizers tokenizers;
  std::optional<Corpus> corpus;
  std::optional<Corpus> dev;
  std::shared_ptr<Seq2Seq> model;
};

void load_data(Setup& setup) {
  const auto& data = setup.options.data;
  setup.corpus = Corpus::training(data, setup.tokenizers);
  if (!data.dev.src.empty()) setup.dev = Corpus::validation(data.dev, setup.tokenizers);
  log::info("{}", data_table(*setup.corpus, setup.dev ? &*setup.dev : nullptr));
}

void make_model(Setup& setup, const std::string& init_from) {
  setup.model = build_model(setup.tokenizers.source->size(), setup.tokenizers.target->size(),
                            setup.options.model);
  if (setup.checkpoint) {
    load_weights(*setup.model, read_weights(*setup.checkpoint), setup.checkpoint->path().string());
  } else if (!init_from.empty()) {
    const FolderReader from(resolve_model(init_from));
    load_weights(*setup.model, read_weights(from), from.path().string());
    log::info("the first weights are those of {}", from.path().string());
  }
  setup.model->to(setup.device);
  log::info("{}", parameter_table(*setup.model));
}

// Those of the model to begin from, with their options; how they sample is the new run's to say.
void take_tokenizers(Setup& setup, const FolderReader& from) {
  auto& wanted = setup.options.data.tokenizer;
  auto found = read_model_options(from).data.tokenizer;
  found.sampling = wanted.sampling;
  Options before = setup.options;
  wanted = found;
  for (const auto& difference : differing_keys(before, setup.options)) {
    log::warning("the tokenizers are those of {}: {}", from.path().string(), difference);
  }
  setup.tokenizers = read_tokenizers(from, found);
}

Setup make_setup(const Options& options, const std::optional<std::filesystem::path>& last,
                 const std::string& init_from) {
  Setup setup;
  setup.options = options;
  setup.device = find_device(options.device);
  setup.workers = make_workers(options.threads, setup.device);
  torch::manual_seed(static_cast<std::uint64_t>(options.training.random_seed));
  for (const auto& corpus : options.data.train) check_parallel(corpus.src, corpus.trg);
  if (!options.data.dev.src.empty()) check_parallel(options.data.dev.src, options.data.dev.trg);
  if (last) {
    setup.checkpoint.emplace(*last);
    compare_with_checkpoint(*setup.checkpoint, options);
    setup.tokenizers = read_tokenizers(*setup.checkpoint, options.data.tokenizer);
  } else if (!init_from.empty()) {  // its weights have meaning for its vocabulary only
    const FolderReader from(resolve_model(init_from));
    take_tokenizers(setup, from);
  } else {
    setup.tokenizers = make_tokenizers(options.data);
  }
  load_data(setup);
  make_model(setup, init_from);
  return setup;
}

// One step forward and backward, as the run would begin or go on; nothing is written.
void dry_run(const Options& options, const TrainArguments& arguments) {
  const RunFolder run(options.training.model_dir);
  const auto last = arguments.fresh ? std::nullopt : run.last();
  const auto setup = make_setup(options, last, last ? "" : arguments.init_from);
  Batches batches(*setup.corpus, {options.training.batch_size, options.training.batch_type},
                  static_cast<std::uint64_t>(options.training.random_seed),
                  options.data.tokenizer.sampling);
  std::int64_t epoch = 0;
  while (batches.count(epoch) == 0) ++epoch;  // weights below 1 can leave one without a pair
  const auto batch = batches.batch(epoch, 0).to(setup.device);
  setup.model->train();
  const auto loss = batch_loss(*setup.model, batch, options.training.label_smoothing);
  loss.smoothed.backward();
  log::info(
      "dry run{}: {} batches an epoch; the first has {} sentences and {} target tokens, loss "
      "{:.4f}. Nothing was written",
      last ? fmt::format(", going on from {}", last->string()) : "", batches.count(epoch),
      batch.size(), batch.target_tokens,
      loss.nll.item<double>() / static_cast<double>(batch.target_tokens));
}

// A folder with a configuration or a manifest that no run of regard has written is somebody's own.
void check_is_for_runs(const RunFolder& run) {
  const auto manifest = run.path() / "manifest.json";
  std::error_code ignored;
  if (run.last() || !(std::filesystem::exists(run.path() / "config.yaml", ignored) ||
                      std::filesystem::exists(manifest, ignored))) {
    return;
  }
  std::string text;
  if (std::filesystem::exists(manifest, ignored)) {
    text = read_file<EnvironmentError>(manifest, "manifest");
  }
  const auto json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_object() && json.contains("regard")) return;
  throw ConfigError(
      "{}: has a config.yaml or manifest.json that is not of a run, and would be written over; "
      "give "
      "training.model_dir a folder of its own",
      run.path().string());
}

void discard(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) return;
  throw EnvironmentError("{}: cannot be removed for --fresh ({})", path.string(), error.message());
}

// What a run has written, and nothing else.
void start_over(const RunFolder& run) {
  namespace fs = std::filesystem;
  for (const auto* name : {"last", "best", "train.jsonl", "validations.tsv"}) {
    discard(run.path() / name);
  }
  for (const auto* name : {"checkpoints", "validation"}) {
    std::vector<fs::path> steps;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(run.path() / name, ignored)) {
      if (entry.path().filename().string().starts_with("step-")) steps.push_back(entry.path());
    }
    for (const auto& step : steps) discard(step);
    fs::remove(run.path() / name, ignored);  // unless something of the user's is left there
  }
}

// config.yaml and manifest.json say what the run does from now on; the manifest remembers earlier
// sittings. Data that is no longer what it was is named.
void record_sitting(const RunFolder& run, const Setup& setup) {
  const auto path = run.path() / "manifest.json";
  auto manifest = run_manifest(setup.options, command_line(), setup.workers->count());
  if (setup.checkpoint) {
    const auto before = read_run_manifest(path);
    for (const auto& change : changed_data(before, manifest)) log::warning("{}", change);
    if (!before.empty()) add_earlier_sittings(manifest, before);
  }
  write_file(path, manifest.dump(2) + "\n");
  write_file(run.path() / "config.yaml", write_options(setup.options));
}

void record_end(const RunFolder& run, const Trainer& trainer, const StopReason& reason) {
  const auto path = run.path() / "manifest.json";
  auto manifest = read_run_manifest(path);
  manifest["stopped"] = {{"step", trainer.position().step}, {"reason", reason.sentence}};
  write_file(path, manifest.dump(2) + "\n");
}

void log_end(const RunFolder& run, const Trainer& trainer, const StopReason& reason) {
  log::info("Stopped at step {}: {}.", trainer.position().step, reason.sentence);
  if (const auto step = trainer.early_stopping().best_step(); step > 0) {
    log::info("The best validation was at step {}.", step);
  }
  if (reason.signal != 0) log::info("The same command goes on from there.");
  log::info("Translate with: regard translate -m {}", run.path().string());
}

}  // namespace

ExitCode train(const TrainArguments& arguments) {
  std::signal(SIGPIPE,
              SIG_IGN);  // training outlives whoever reads its messages: train.log has them
  const auto options = resolve_options(arguments);
  if (arguments.dry_run) {
    dry_run(options, arguments);
    return ExitCode::ok;
  }
  RunFolder run(options.training.model_dir);
  check_is_for_runs(run);
  run.lock();
  const auto last = arguments.fresh ? std::nullopt : run.last();
  if (last && !arguments.init_from.empty()) {
    log::info("--init-from is of no use any more: the run goes on from {}.", last->string());
  }
  log::open_file((run.path() / "train.log").string());
  const auto setup = make_setup(options, last, last ? "" : arguments.init_from);
  // Everything was found in order: only now is anything replaced.
  if (arguments.fresh) start_over(run);

  auto validator = setup.dev ? std::make_unique<Validator>(setup.options, *setup.dev, setup.device,
                                                           *setup.workers)
                             : std::unique_ptr<Validator>();
  Trainer trainer(setup.options, run, *setup.corpus, setup.model, std::move(validator),
                  setup.device, *setup.workers, setup.checkpoint ? &*setup.checkpoint : nullptr);
  if (!trainer.is_finished()) record_sitting(run, setup);
  if (last) {
    log::info("Going on from step {} ({}).", trainer.position().step, last->string());
  } else {
    log::info("Training on {} with {} threads, into {}.", setup.device.str(),
              setup.workers->count(), run.path().string());
  }
  const auto first_step = trainer.position().step;
  const auto reason = trainer.run();
  if (last && trainer.position().step == first_step && reason.signal == 0) {
    log::info("This run is finished; raise what stopped it to go on, or start over with --fresh.");
  }
  record_end(run, trainer, reason);
  log_end(run, trainer, reason);
  if (reason.signal != 0) return static_cast<ExitCode>(128 + reason.signal);
  return ExitCode::ok;
}

}  // namespace regard
