// The shared models of tests/cli/run.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

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

void train(const fs::path& folder, std::vector<std::string> overrides) {
  overrides.insert(overrides.begin(), {"train", "-c", toy_training(folder).string()});
  const auto finished = run(overrides);
  if (finished.code != 0) throw std::runtime_error("regard train failed:\n" + finished.err);
}

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

// The first process trains; the others wait.
fs::path trained_once(const std::string& name, const std::vector<std::string>& overrides) {
  const auto folder = cli_folder() / name;
  const auto stamp = folder / "complete";
  const FileLock lock(cli_folder() / (name + ".lock"));
  const auto binary = fs::path(REGARD_BINARY_DIR) / "regard-torch";
  std::error_code none;
  const auto made = fs::last_write_time(stamp, none);
  if (none || made < fs::last_write_time(binary)) {
    train(folder, overrides);
    const auto translated = run({"translate", "-m", (folder / "run").string(), "-i",
                                 (folder / "dev.en").string(), "--threads", "1"});
    write_text(folder / "translation", translated.out);
    write_text(stamp, "");
  }
  return folder / "run";
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

fs::path tiny_model() {
  return trained_once("tiny", {});
}

std::string tiny_translation() {
  return read_text(tiny_model().parent_path() / "translation");
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

fs::path tiny_tagged() {
  const auto english = (cli_folder() / "tiny_tagged" / "train.en").string();
  return trained_once(
      "tiny_tagged",
      {"training.max_steps=400", "data.tokenizer.user_symbols=[<2fr>, <2en>]",
       "data.tokenizer.joint=true", "data.train.0.trg_tag=<2fr>", "data.train.1.src=" + english,
       "data.train.1.trg=" + english, "data.train.1.trg_tag=<2en>", "data.dev.trg_tag=<2fr>"});
}

}  // namespace regard
