#include "config/check.h"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/contradictions.h"
#include "config/kinds.h"
#include "config/scalar.h"

namespace regard {
namespace {

// Beyond any model, and so small that no product of sizes overflows before memory is asked for.
constexpr std::int64_t largest_size = std::int64_t{1} << 24;

template <Section T>
void check_sizes(const std::string& key, T& section, Contradictions& problems) {
  describe(section, [&]<typename Value>(std::string_view name, Value& value, auto&&...) {
    const auto full = join_key(key, name);
    if constexpr (Section<Value>) {
      check_sizes(full, value, problems);
    } else if constexpr (std::same_as<Value, std::int64_t>) {
      if (value <= largest_size) return;
      problems.add("{}: found {}, wanted at most {}", full, value, largest_size);
    }
  });
}

// Of a corpus that is used at all: no corpus has so many pairs that less would show one of them.
constexpr double least_weight = 1e-6;

bool is_device(const std::string& device) {
  if (device == "auto" || device == "cpu" || device == "cuda") return true;
  if (!device.starts_with("cuda:") || device.size() == 5 || device.size() > 8) return false;
  return std::all_of(device.begin() + 5, device.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void check_top(const Options& o, Contradictions& problems) {
  if (!is_device(o.device)) {
    problems.add("device: found {}, wanted auto, cpu, cuda or cuda:N", to_yaml(o.device));
  }
  if (o.training.model_dir.empty() && (o.name.empty() || o.name == "." || o.name == ".." ||
                                       o.name.find('/') != std::string::npos)) {
    problems.add("name: found {}, wanted a folder's name for runs/NAME, or training.model_dir",
                 to_yaml(o.name));
  }
}

void check_tokenizer(const TokenizerOptions& o, Contradictions& problems) {
  const bool subwords = o.kind == TokenizerKind::bpe || o.kind == TokenizerKind::unigram;
  if (o.sampling > 0 && !subwords) {
    problems.add(
        "data.tokenizer.sampling is {}, but data.tokenizer.kind is {}: only bpe and unigram have "
        "several ways to split a word; set sampling to 0",
        o.sampling, to_yaml(o.kind));
  }
  if (o.joint && o.src_file != o.trg_file) {
    problems.add(
        "data.tokenizer.joint is one vocabulary for both languages, but src_file is {} and "
        "trg_file is {}: name the same file twice, or set joint to false",
        to_yaml(o.src_file), to_yaml(o.trg_file));
  }
}

void check_model(const Options& options, Contradictions& problems) {
  const ModelOptions& o = options.model;
  if (o.tied_embeddings == TiedEmbeddings::all && !options.data.tokenizer.joint) {
    problems.add(
        "model.tied_embeddings is all, but data.tokenizer.joint is false: source and target can "
        "only share an embedding with one vocabulary; set joint to true, or tie only the output");
  }
  if (o.tied_embeddings == TiedEmbeddings::all &&
      o.encoder.embedding_dim != o.decoder.embedding_dim) {
    problems.add(
        "model.tied_embeddings is all, but model.encoder.embedding_dim is {} and "
        "model.decoder.embedding_dim is {}: one matrix needs one width",
        o.encoder.embedding_dim, o.decoder.embedding_dim);
  }
  const bool recurrent = o.decoder.kind == LayerKind::recurrent;
  if (recurrent && o.tied_embeddings != TiedEmbeddings::none &&
      o.output.kind != OutputKind::pointer && o.decoder.readout_size != o.decoder.embedding_dim) {
    problems.add(
        "model.tied_embeddings is {}, but model.decoder.readout_size is {} and "
        "model.decoder.embedding_dim is {}: one matrix needs one width",
        to_yaml(o.tied_embeddings), o.decoder.readout_size, o.decoder.embedding_dim);
  }
  const std::int64_t width = state_size(o.encoder);
  if (recurrent && o.decoder.initial_state == InitialState::last &&
      width != o.decoder.hidden_size) {
    problems.add(
        "model.decoder.initial_state is last, but model.decoder.hidden_size is {} and the "
        "encoder's last states have {} (model.encoder.hidden_size {}, {}): make them equal, or "
        "take bridge",
        o.decoder.hidden_size, width, o.encoder.hidden_size,
        width > o.encoder.hidden_size ? "in both directions" : "in one direction");
  }
}

// A pair of files of which only one is named; none at all when `needed`.
void check_pair(const std::string& key, const std::string& src, const std::string& trg, bool needed,
                Contradictions& problems) {
  if (src.empty() && trg.empty()) {
    if (needed) problems.add("{}: neither src nor trg names a file", key);
  } else if (src.empty() || trg.empty()) {
    problems.add("{}: found only {} ({}), wanted {}.{} as well", key, src.empty() ? "trg" : "src",
                 src.empty() ? trg : src, key, src.empty() ? "src" : "trg");
  }
}

void check_corpora(const DataOptions& o, Contradictions& problems) {
  if (o.train.empty()) {
    problems.add("data.train names no corpus: training needs at least one, with src and trg");
  }
  for (std::size_t i = 0; i < o.train.size(); ++i) {
    check_pair(fmt::format("data.train.{}", i), o.train[i].src, o.train[i].trg, true, problems);
    const auto weight = o.train[i].weight;
    if (weight == 0 || weight >= least_weight) continue;
    problems.add(
        "data.train.{}.weight: found {}, wanted 0, which leaves the corpus out, or at least {}", i,
        weight, least_weight);
  }
  const bool all_off = std::all_of(o.train.begin(), o.train.end(),
                                   [](const CorpusOptions& corpus) { return corpus.weight == 0; });
  if (all_off && !o.train.empty()) {
    problems.add("data.train: every corpus has weight 0, which leaves nothing to train on");
  }
  check_pair("data.dev", o.dev.src, o.dev.trg, false, problems);
}

void check_optimizer(const TrainingOptions& o, Contradictions& problems) {
  if (o.learning_rate == 0) {
    problems.add("training.learning_rate is 0: nothing would be learned");
  }
}

void check_schedule(const TrainingOptions& o, bool validates, Contradictions& problems) {
  const bool stepwise =
      o.scheduling == ScheduleKind::plateau || o.scheduling == ScheduleKind::exponential;
  if (stepwise && (o.decrease_factor == 0 || o.decrease_factor == 1)) {
    problems.add(
        "training.scheduling is {}, but training.decrease_factor is {}: wanted more than 0 and "
        "less than 1",
        to_yaml(o.scheduling), o.decrease_factor);
  }
  if (o.scheduling == ScheduleKind::plateau && !validates) {
    problems.add(
        "training.scheduling is plateau, which waits for validations, but data.dev names no files");
  }
  if (o.scheduling == ScheduleKind::cosine && o.decay_steps == 0 && o.max_steps == 0 &&
      o.epochs == 0) {
    problems.add(
        "training.scheduling is cosine, but training.decay_steps, training.max_steps and "
        "training.epochs are all 0: set one, for the rate to know where to arrive");
  }
  if (o.learning_rate_min > o.learning_rate) {
    problems.add("training.learning_rate_min is {}, above training.learning_rate, {}",
                 o.learning_rate_min, o.learning_rate);
  }
}

void check_end(const TrainingOptions& o, bool validates, Contradictions& problems) {
  if (o.patience > 0 && !validates) {
    problems.add(
        "training.patience is {}, which waits for validations, but data.dev names no files",
        o.patience);
  }
  const bool rate_ends = o.scheduling == ScheduleKind::plateau && o.learning_rate_min > 0;
  if (o.epochs == 0 && o.max_steps == 0 && o.patience == 0 && !rate_ends) {
    problems.add(
        "training would never stop: set training.epochs, training.max_steps or training.patience");
  }
}

void check_coverage(const Options& o, Contradictions& problems) {
  const bool attends =
      o.model.decoder.kind == LayerKind::transformer || o.model.attention.kind != "none";
  if (o.testing.coverage_beta == 0 || attends) return;
  problems.add(
      "testing.coverage_beta is {}, but model.attention.kind is none: coverage is a sum of "
      "attention weights; set coverage_beta to 0",
      o.testing.coverage_beta);
}

Contradictions contradictions(const Options& options, const Origins& origins) {
  Contradictions problems(origins);
  Options sized = options;  // describe() takes no const
  check_sizes("model", sized.model, problems);
  check_sizes("testing", sized.testing, problems);
  if (problems.any()) return problems;  // what follows calculates with the sizes
  check_top(options, problems);
  check_tokenizer(options.data.tokenizer, problems);
  check_model(options, problems);
  check_kinds(options, problems);
  check_numbers(options, problems);
  check_output_options(options, problems);
  check_search_options(options.testing, problems);
  check_coverage(options, problems);
  return problems;
}

}  // namespace

void check_options(const Options& options, const Origins& origins) {
  contradictions(options, origins).throw_if_any();
}

void check_testing_options(const TestingOptions& options) {
  const Origins nowhere;
  Contradictions problems(nowhere);
  TestingOptions sized = options;  // describe() takes no const
  check_sizes("testing", sized, problems);
  problems.throw_if_any();
  check_search_options(options, problems);
  problems.throw_if_any();
}

void check_training_options(const Options& options, const Origins& origins) {
  Contradictions problems = contradictions(options, origins);
  const bool validates = !options.data.dev.src.empty() || !options.data.dev.trg.empty();
  check_corpora(options.data, problems);
  check_optimizer(options.training, problems);
  check_schedule(options.training, validates, problems);
  check_end(options.training, validates, problems);
  problems.throw_if_any();
}

}  // namespace regard
