// Generates a large parallel text, and measures how a prepared corpus is read: the time to open it,
// to plan an epoch and to make batches, and the memory of the process that is not shared with the
// page cache. Prints one JSON object. scripts/bench.sh corpus runs it.
#include <torch/types.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "data/batch_sampler.h"
#include "data/corpus.h"
#include "data/prepared_corpus.h"

namespace regard {
namespace {

// Words w0, w1, … with the frequencies of Zipf's law, 4 to 20 on each line: 12 on average. The
// target of a line has up to two words more or less than its source.
class TextGenerator {
 public:
  explicit TextGenerator(std::size_t words) {
    double sum = 0;
    for (std::size_t i = 0; i < words; ++i) {
      sum += 1 / static_cast<double>(i + 1);
      cumulative_.push_back(sum);
      words_.push_back(fmt::format("w{:x}", i));
    }
  }

  void write(const std::string& src, const std::string& trg, std::int64_t pairs) {
    std::ofstream source(src, std::ios::binary);
    std::ofstream target(trg, std::ios::binary);
    for (std::int64_t i = 0; i < pairs; ++i) {
      const auto length = 4 + random_.below(17);
      source << line(length);
      target << line(std::max<std::uint64_t>(4, length + random_.below(5)) - 2);
    }
    if (!source.flush() || !target.flush()) throw EnvironmentError("{}: cannot be written", src);
  }

 private:
  std::string line(std::uint64_t length) {
    std::string text;
    for (std::uint64_t i = 0; i < length; ++i) {
      const double at = random_.uniform() * cumulative_.back();
      const auto word = std::ranges::upper_bound(cumulative_, at) - cumulative_.begin();
      text += i == 0 ? "" : " ";
      text += words_[static_cast<std::size_t>(word)];
    }
    return text + "\n";
  }

  Random random_{1};
  std::vector<double> cumulative_;
  std::vector<std::string> words_;
};

// Returns the memory of this process that no file backs, in bytes.
std::int64_t anonymous_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stoll(line.substr(8)) * 1024;
  }
  throw EnvironmentError("/proc/self/status: found no RssAnon");
}

class Stopwatch {
 public:
  double seconds() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - start_;
    start_ = now;
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Json read(const std::string& folder, BatchSize size, std::int64_t count) {
  static_cast<void>(torch::zeros({1000}));  // LibTorch's own memory
  const auto before = anonymous_memory();
  Stopwatch watch;
  const auto prepared = std::make_shared<const PreparedCorpus>(folder);
  const auto corpus = Corpus::training(prepared->options(), prepared);
  const auto open_seconds = watch.seconds();
  BatchSampler batches(corpus, size, 1);
  const auto in_epoch = batches.count(0);
  const auto plan_seconds = watch.seconds();
  count = std::min(count, in_epoch);
  std::int64_t tokens = 0;
  double slowest = 0;
  double sum = 0;
  auto most = anonymous_memory();
  for (std::int64_t i = 0; i < count; ++i) {
    watch.seconds();
    tokens += batches.batch(0, i).target_tokens;
    const auto seconds = watch.seconds();
    sum += seconds;
    slowest = std::max(slowest, seconds);
    if (i % 16 == 0) most = std::max(most, anonymous_memory());
  }
  return {{"pairs", corpus.size()},
          {"batches_in_epoch", in_epoch},
          {"open_seconds", open_seconds},
          {"plan_seconds", plan_seconds},
          {"batches", count},
          {"batch_seconds", sum / static_cast<double>(count)},
          {"slowest_batch_seconds", slowest},
          {"target_tokens", tokens},
          {"anonymous_bytes", most - before}};
}

int run(int argc, char** argv) {
  CLI::App program("Generates a large parallel text, or reads a prepared corpus.");
  program.require_subcommand(1);
  std::int64_t pairs = 0;
  std::string src;
  std::string trg;
  auto* generate = program.add_subcommand("generate", "write a parallel text");
  generate->add_option("pairs", pairs)->required();
  generate->add_option("src", src)->required();
  generate->add_option("trg", trg)->required();
  std::string folder;
  BatchSize size;
  std::int64_t batches = 2000;
  bool tokens = false;
  auto* read_folder = program.add_subcommand("read", "read batches of a prepared corpus");
  read_folder->add_option("folder", folder)->required();
  read_folder->add_option("--batch-size", size.size);
  read_folder->add_flag("--tokens", tokens, "the batch size counts target positions");
  read_folder->add_option("--batches", batches);
  CLI11_PARSE(program, argc, argv);
  if (*generate) {
    TextGenerator(30000).write(src, trg, pairs);
    return 0;
  }
  size.type = tokens ? BatchType::token : BatchType::sentence;
  fmt::print("{}\n", to_text(read(folder, size, batches)));
  return 0;
}

}  // namespace
}  // namespace regard

int main(int argc, char** argv) {
  try {
    return regard::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 6;
  }
}
