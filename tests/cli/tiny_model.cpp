// The shared models of tests/cli/run.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>

#include "tests/cli/run.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::array<const char*, 2>, 12> dictionary{{
    {"the", "le"},
    {"cat", "chat"},
    {"dog", "chien"},
    {"bird", "oiseau"},
    {"sees", "voit"},
    {"hears", "entend"},
    {"a", "un"},
    {"small", "petit"},
    {"old", "vieux"},
    {"and", "et"},
    {"here", "ici"},
    {".", "."},
}};

constexpr const char* configuration = R"(
name: {name}
device: cpu
threads: 1
data:
  train: [{{src: {folder}/train.en, trg: {folder}/train.fr}}]
  dev: {{src: {folder}/dev.en, trg: {folder}/dev.fr}}
  tokenizer: {{kind: word}}
model:
  encoder: {{embedding_dim: 16, hidden_size: 16}}
  decoder: {{embedding_dim: 16, hidden_size: 16, readout_size: 16}}
  attention: {{kind: additive, size: 16}}
  dropout: {{embeddings: 0, states: 0, readout: 0}}
training:
  model_dir: {folder}/run
  max_steps: 60
  batch_type: sentence
  batch_size: 32
  learning_rate: 0.01
  label_smoothing: 0
  validation_every: 30
  logging_every: 30
search:
  beam_size: 3
  max_output_length: 20
)";

// A lock held by one process until the object is destroyed or the process ends.
class FileLock {
 public:
  explicit FileLock(const fs::path& path)
      : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0 || flock(descriptor_, LOCK_EX) != 0) {
      throw std::runtime_error("no lock " + path.string());
    }
  }
  ~FileLock() { close(descriptor_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

// Returns true if the file is as new as regard and the test programs, whose sources have recipes of
// models. All test programs agree, since they share the models.
bool is_as_new_as_programs(const fs::path& file) {
  std::error_code none;  // the time of a missing file is the earliest
  const auto written = fs::last_write_time(file, none);
  const auto programs = {"regard-torch", "tests/cli_tests", "tests/library_tests",
                         "tests/gpu/gpu_tests"};
  return std::ranges::all_of(programs, [&](const char* program) {
    return written >= fs::last_write_time(fs::path(REGARD_BINARY_DIR) / program, none);
  });
}

// Calls `make` with an empty folder once per build of the programs: the first process makes it, the
// others wait.
fs::path made_once(const std::string& name, const std::function<void(const fs::path&)>& make) {
  const auto folder = cli_folder() / name;
  const auto stamp = folder / "complete";
  const FileLock lock(cli_folder() / (name + ".lock"));
  if (!is_as_new_as_programs(stamp)) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    make(folder);
    write_text(stamp, "");
  }
  return folder;
}

}  // namespace

ToyCorpus toy_corpus(std::size_t lines, unsigned seed) {
  std::mt19937 random(seed);
  ToyCorpus corpus;
  for (std::size_t i = 0; i < lines; ++i) {
    const auto words = 2 + random() % 6;
    for (std::size_t w = 0; w < words; ++w) {
      const auto& [source, target] = dictionary[random() % dictionary.size()];
      corpus.source += fmt::format("{}{}", w == 0 ? "" : " ", source);
      corpus.target += fmt::format("{}{}", w == 0 ? "" : " ", target);
    }
    corpus.source += "\n";
    corpus.target += "\n";
  }
  return corpus;
}

fs::path toy_training(const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto corpus = toy_corpus(200, 1);
  write_text(folder / "train.en", corpus.source);
  write_text(folder / "train.fr", corpus.target);
  const auto dev = toy_corpus(20, 2);
  write_text(folder / "dev.en", dev.source);
  write_text(folder / "dev.fr", dev.target);
  auto config = folder / "config.yaml";
  write_text(config, fmt::format(configuration, fmt::arg("name", folder.filename().string()),
                                 fmt::arg("folder", folder.string())));
  return config;
}

std::vector<std::string> as_transformer() {
  std::vector<std::string> overrides = {"model.attention.size=512",
                                        "model.decoder.readout_size=512"};  // which it has not
  for (const std::string side : {"model.encoder.", "model.decoder."}) {
    overrides.push_back(side + "kind=transformer");
    overrides.push_back(side + "heads=2");
    overrides.push_back(side + "layers=2");
    overrides.push_back(side + "feed_forward_size=32");
  }
  return overrides;
}

fs::path trained_once(const std::string& name, const Words& overrides,
                      const std::function<fs::path(const fs::path&)>& prepare) {
  const auto trained = made_once(name, [&](const fs::path& folder) {
    const auto finished = run(Words{"train", "-c", prepare(folder).string()} + overrides);
    if (finished.code != 0) throw std::runtime_error("regard train failed:\n" + finished.err);
  });
  return trained / "run";
}

fs::path tiny_model() {
  return trained_once("tiny", {});
}

std::string tiny_translation() {
  const auto made = made_once("tiny_translation", [](const fs::path& folder) {
    const auto source = tiny_model().parent_path() / "dev.en";
    write_text(folder / "text", translate({"-i", source.string()}).out);
  });
  return read_text(made / "text");
}

Finished translate(const Words& options, const std::string& input) {
  const bool has_threads = std::ranges::count(options, "--threads") > 0;
  return run(Words{"translate", "-m", tiny_model().string()} +
                 (has_threads ? Words{} : Words{"--threads", "1"}) + options,
             input);
}

fs::path tiny_fixed_context() {
  return trained_once("tiny_fixed_context",
                      {"model.attention.kind=none", "model.attention.size=512"});
}

fs::path tiny_transformer() {
  return trained_once("tiny_transformer", as_transformer());
}

fs::path tiny_lstm() {
  return trained_once("tiny_lstm", {"model.encoder.cell=lstm", "model.decoder.cell=lstm",
                                    "model.encoder.hidden_size=18", "model.decoder.hidden_size=21",
                                    "model.encoder.self_attention_layers=1",
                                    "model.encoder.heads=4", "model.encoder.feed_forward_size=33",
                                    "model.attention.kind=ntm", "model.attention.size=512"});
}

fs::path language_model_training(const fs::path& folder) {
  toy_training(folder);
  const auto path = [&](const char* name) { return (folder / name).string(); };
  const auto config = folder / "lm.yaml";
  write_text(config,
             "name: toy\n"
             "threads: 1\n"
             "data:\n"
             "  train: [{trg: " +
                 path("train.fr") +
                 "}]\n"
                 "  dev: {trg: " +
                 path("dev.fr") +
                 "}\n"
                 "  tokenizer: {kind: word}\n"
                 "model:\n"
                 "  kind: language_model\n"
                 "  decoder: {embedding_dim: 16, hidden_size: 16, readout_size: 16}\n"
                 "training:\n"
                 "  model_dir: " +
                 path("run") +
                 "\n"
                 "  max_steps: 60\n"
                 "  validation_every: 30\n"
                 "  early_stopping_metric: perplexity\n"
                 "  learning_rate: 0.01\n");
  return config;
}

fs::path tiny_language_model() {
  return trained_once("tiny_language_model", {}, language_model_training);
}

fs::path tiny_reverse() {
  const auto data = (cli_folder() / "tiny_reverse").string();
  return trained_once(
      "tiny_reverse",
      {"data.train.0.src=" + data + "/train.fr", "data.train.0.trg=" + data + "/train.en",
       "data.dev.src=" + data + "/dev.fr", "data.dev.trg=" + data + "/dev.en"});
}

fs::path tiny_tagged(const std::string& side) {
  const auto name = "tiny_" + side;
  const auto english = (cli_folder() / name / "train.en").string();
  return trained_once(name, {"training.max_steps=400", "data.tokenizer.user_symbols=[<2fr>, <2en>]",
                             "data.tokenizer.joint=true", "data.train.0." + side + "=<2fr>",
                             "data.train.1.src=" + english, "data.train.1.trg=" + english,
                             "data.train.1." + side + "=<2en>", "data.dev." + side + "=<2fr>"});
}

}  // namespace regard
