#include "training/setup_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "checkpoint/run_folder.h"
#include "config/output_lengths.h"
#include "config/writer.h"
#include "data/corpus_statistics.h"
#include "metrics/input_warnings.h"
#include "model/attention/table.h"
#include "model/build_model.h"
#include "optim/optimizer.h"
#include "report/format.h"
#include "report/table.h"
#include "text/unicode.h"
#include "text/unspaced_script.h"

namespace regard {
namespace {

// Returns the module that a parameter belongs to, at most three levels deep: "encoder.layer0" for
// "encoder.layer0.W". Returns the name of a parameter that is in no module, such as "output_bias".
std::string module_of(const std::string& parameter) {
  auto module = parameter.substr(0, parameter.rfind('.'));
  while (std::ranges::count(module, '.') > 2) module.resize(module.rfind('.'));
  return module;
}

std::vector<std::string> data_row(const std::string& name, const Corpus& corpus,
                                  bool has_duplicates) {
  const auto& r = corpus.report();
  const auto side = [&](const CorpusReport::Side& s) {
    return fmt::format("{} ({:.1f} a line, {:.2f} % unknown)", format_thousands(s.tokens),
                       r.mean_length(s), 100 * r.unknown_rate(s));
  };
  std::vector<std::string> row = {name,
                                  format_thousands(r.read),
                                  format_thousands(r.kept),
                                  format_thousands(r.empty),
                                  format_thousands(r.too_long),
                                  format_thousands(r.high_ratio)};
  if (has_duplicates) row.push_back(format_thousands(r.duplicates));
  const bool has_source = !corpus.codec().source->ignores_text();
  row.push_back(has_source ? side(r.source) : "–");  // a language model has none
  row.push_back(side(r.target));
  return row;
}

// BLEU in training uses the tokenizer 13a, which splits words at spaces, and counts sequences of up
// to bleu_order words: shorter lines have none, and a score near 0 however good they are.
void warn_of_bleu(const Options& options, const Corpus& dev) {
  const auto& o = options.training;
  const bool selects_best = o.early_stopping_metric == Metric::bleu;
  const bool is_objective =
      o.objective == Objective::minimum_risk && o.minimum_risk.metric == RiskMetric::bleu;
  if (!selects_best && !is_objective) return;
  std::vector<std::string> lines;
  lines.reserve(static_cast<std::size_t>(dev.size()));
  for (std::int64_t i = 0; i < dev.size(); ++i) lines.emplace_back(dev.pair(i).target_text);
  const auto script = unspaced_script(lines);
  const auto warn = [&](const char* what, const char* key) {
    log::warning(
        "{}: found {}, which has no spaces between words. {} counts each clause as one word; set "
        "training.{} to chrf",
        options.data.dev.trg, language_name(*script), what, key);
  };
  if (script && selects_best) {
    warn("Validation BLEU, which selects the best checkpoint,", "early_stopping_metric");
  }
  if (script && is_objective) warn("The BLEU of minimum risk training", "minimum_risk.metric");
  if (script || !selects_best) return;
  if (const auto warning =
          short_lines_warning({options.data.dev.trg, std::move(lines)}, BleuOptions().tokenizer)) {
    log::warning("{}; set training.early_stopping_metric to exact or chrf", *warning);
  }
}

// Outputs that end before the reference are never right.
void warn_of_long_targets(const Options& options, const Corpus& dev) {
  if (options.data.source != SourceKind::text) return;  // frames and cells have other limits
  const auto& search = options.search;
  OutputLengths lengths(search);
  for (std::int64_t i = 0; i < dev.size(); ++i) {
    lengths.add(dev.source_length(i), dev.target_length(i));
  }
  if (!lengths.exceed_limits()) return;
  log::warning(
      "{}: {} of {} have more tokens than an output may have by search.max_output_length ({}) and "
      "search.max_output_ratio ({}): {:.1f} % of the tokens cannot be reached; set them to {} and "
      "{}",
      options.data.dev.trg, lengths.longer_targets(), counted(dev.size(), "line"),
      search.max_output_length, search.max_output_ratio, 100 * lengths.unreachable_share(),
      std::max(search.max_output_length, lengths.needed_length()),
      search.max_output_ratio == 0 ? 0 : std::max(search.max_output_ratio, lengths.needed_ratio()));
}

// A validation pair without a tag that all corpora have is translated as no user would.
void warn_of_missing_tags(const DataOptions& data) {
  if (data.train.empty() || data.dev.src.empty()) return;
  const auto warn = [&](const char* key, const auto& tag_of) {
    const auto has_tag = [&](const auto& pair) { return !tag_of(pair).empty(); };
    if (has_tag(data.dev) || !std::ranges::all_of(data.train, has_tag)) return;
    log::warning(
        "data.dev has no {0}, but each corpus of data.train has one; set data.dev.{0}, or the "
        "validation scores are those of text without a tag",
        key);
  };
  warn("src_tag", [](const auto& pair) { return pair.src_tag; });
  warn("trg_tag", [](const auto& pair) { return pair.trg_tag; });
}

void warn_of_known_text(const DataOptions& data) {
  const auto is_dev = [&](const CorpusOptions& corpus) {
    return corpus.weight > 0 && corpus.src == data.dev.src && corpus.trg == data.dev.trg;
  };
  if (data.dev.src.empty() || std::ranges::none_of(data.train, is_dev)) return;
  log::warning(
      "{}, {}: the validation pair is in data.train too, so its scores say nothing of other text",
      data.dev.src, data.dev.trg);
}

// Scores of a validation pair of the opposite direction say nothing.
void warn_of_exchanged_sides(const DataOptions& data) {
  const bool is_text = data.prepared.empty() && data.source == SourceKind::text;
  if (!is_text || data.train.empty() || data.dev.src.empty()) return;
  const auto is_exchanged = [&](const CorpusOptions& corpus) {
    return sides_are_exchanged({corpus.src, corpus.trg}, {data.dev.src, data.dev.trg});
  };
  if (!std::ranges::all_of(data.train, is_exchanged)) return;
  log::warning(
      "{}, {}: the words are those of the other side of data.train; exchange data.dev.src and "
      "data.dev.trg",
      data.dev.src, data.dev.trg);
}

bool is_tokenizer_file(const Difference& difference) {
  return difference.is_at("data.tokenizer.src_file") || difference.is_at("data.tokenizer.trg_file");
}

// Returns true for options that determine the tensors of a checkpoint: the options of the model,
// the tokenizers and the optimizer state.
bool is_fixed(const Difference& difference, const TrainingOptions& before,
              const TrainingOptions& now) {
  if (difference.is_at("model.dropout") || difference.is_at("data.tokenizer.sampling") ||
      is_tokenizer_file(difference)) {
    return false;
  }
  if (difference.is_at("training.moving_average")) {
    return (before.moving_average > 0) != (now.moving_average > 0);
  }
  return difference.is_at("model") || difference.is_at("data.tokenizer") ||
         difference.is_at("training.optimizer");
}

// consequence() mentions an increase of the learning rate by at least this factor.
constexpr double large_increase = 4;

// Returns a clause on what a changed option does to the run, to append to a warning; "" for most
// options.
std::string consequence(const Difference& difference, const TrainingOptions& before,
                        const TrainingOptions& now) {
  if (difference.is_at("training.learning_rate") && before.learning_rate > 0) {
    const auto ratio = now.learning_rate / before.learning_rate;
    if (ratio < large_increase) return "";
    return fmt::format("; {:.3g} times as high: the loss may rise and stay high", ratio);
  }
  if (is_tokenizer_file(difference)) return "; the run keeps the tokenizers of its checkpoint";
  const auto is_file = difference.key.ends_with(".src") || difference.key.ends_with(".trg");
  if (difference.is_at("data.train") && is_file) {
    return "; the vocabularies stay those of the first text; --fresh starts over";
  }
  if (difference.is_at("data.dev") && is_file) {
    return "; the scores before cannot be compared with those of another text";
  }
  const bool changes_length = difference.is_at("training.max_steps") ||
                              (difference.is_at("training.epochs") && before.max_steps == 0);
  if (changes_length && before.scheduling == ScheduleKind::cosine && before.decay_steps == 0) {
    return "; the cosine schedule now ends at another step: the learning rates differ from those "
           "of a run that had this length from the start";
  }
  return "";
}

}  // namespace

std::string parameter_table(const Seq2Seq& model) {
  Table table({{"module"}, {"shapes"}, {"parameters", Align::right}});
  std::vector<std::string> order;
  std::map<std::string, std::pair<std::string, std::int64_t>> modules;
  std::int64_t total = 0;
  for (const auto& [name, tensor] : parameters_of(model)) {
    const auto module = module_of(name);
    if (!modules.contains(module)) order.push_back(module);
    auto& [shapes, count] = modules[module];
    shapes += fmt::format("{}[{}]", shapes.empty() ? "" : " ", fmt::join(tensor.sizes(), "×"));
    count += tensor.numel();
    total += tensor.numel();
  }
  for (const auto& module : order) {
    table.add({module, modules[module].first, format_thousands(modules[module].second)});
  }
  table.add_rule();
  table.add({"all", "", format_thousands(total)});
  return table.text();
}

std::string data_table(const Corpus& train, const Corpus* dev) {
  const bool has_duplicates = train.report().duplicates > 0;
  std::vector<Table::Column> columns = {{"data"},
                                        {"pairs", Align::right},
                                        {"kept", Align::right},
                                        {"empty", Align::right},
                                        {"too long", Align::right},
                                        {"high ratio", Align::right}};
  if (has_duplicates) columns.push_back({"duplicates", Align::right});
  columns.push_back({"source tokens", Align::right});
  columns.push_back({"target tokens", Align::right});
  Table table(columns);
  table.add(data_row("train", train, has_duplicates));
  if (dev != nullptr) table.add(data_row("dev", *dev, has_duplicates));
  return table.text();
}

void warn_of_unknown_tokens(const Corpus& train) {
  const auto& report = train.report();
  const auto warn = [&](const char* side, const CorpusReport::Side& counts) {
    const auto rate = report.unknown_rate(counts);
    if (rate <= 0.5) return;
    log::warning(
        "{:.0f} % of the {} tokens are unknown; does the vocabulary belong to this text, and is it "
        "large enough?",
        100 * rate, side);
  };
  warn("source", report.source);
  warn("target", report.target);
}

void report_rates(const Seq2Seq& model, const TrainingOptions& options) {
  const auto parameters = parameters_of(model);
  const auto factors = learning_rate_factors(options, parameters);
  std::map<double, std::int64_t> numbers;  // of parameters, by factor
  std::int64_t all = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    numbers[factors[i]] += parameters[i].second.numel();
    all += parameters[i].second.numel();
  }
  for (const auto& [factor, count] : numbers) {
    if (factor == 1) continue;
    const auto what = factor == 0 ? "are frozen" : fmt::format("learn {} times as fast", factor);
    log::info("{} of {} parameters {}", format_thousands(count), format_thousands(all), what);
  }
}

void report_widths(const ModelOptions& given, const ModelOptions& resolved) {
  const bool has_attention =
      resolved.kind == ModelKind::translation && resolved.decoder.kind == LayerKind::recurrent;
  if (has_attention && !is_read(resolved.attention, &AttentionOptions::size) &&
      resolved.attention.size != AttentionOptions().size) {
    log::info("model.attention.size has no effect: {} does not read it",
              enum_name(resolved.attention.kind));
  }
  if (given.attention.project_keys != resolved.attention.project_keys &&
      resolved.attention.project_keys == ProjectKeys::yes) {
    log::info(
        "Attention compares keys of width {} that a matrix computes from the encoder states of "
        "width {} (model.attention.project_keys: auto)",
        resolved.decoder.hidden_size, state_size(resolved.encoder));
  }
  const auto report = [](const char* side, const auto& o) {
    if (o.kind != decltype(o.kind)::transformer || o.embedding_dim == o.hidden_size) return;
    log::info("{}: a matrix projects the embeddings of width {} to the width {} of the layers",
              side, o.embedding_dim, o.hidden_size);
  };
  report("model.encoder", resolved.encoder);
  report("model.decoder", resolved.decoder);
}

void warn_of_validation_data(const Options& options, const Corpus* dev) {
  if (dev != nullptr) {
    warn_of_bleu(options, *dev);
    warn_of_long_targets(options, *dev);
  }
  warn_of_missing_tags(options.data);
  warn_of_known_text(options.data);
  warn_of_exchanged_sides(options.data);
}

void compare_with_checkpoint(const FolderReader& checkpoint, const Options& before,
                             Options options) {
  if (options.training.precision == TrainingPrecision::automatic) {
    options.training.precision = before.training.precision;
  }
  std::vector<Difference> fixed;
  for (const auto& difference : option_differences(before, options)) {
    if (is_fixed(difference, before.training, options.training)) {
      fixed.push_back(difference);
    } else {
      log::warning("changed since this run last trained: {}{}", difference.text(),
                   consequence(difference, before.training, options.training));
    }
  }
  if (fixed.empty()) return;
  const auto is_edited = !is_intact(checkpoint.path(), /*may_change=*/{});
  throw CheckpointError(
      "{}: the run started with other options:{}{}\nRestore these to continue it, or start another "
      "run in another training.model_dir (with --init-from for its weights)",
      checkpoint.path().string(), differences_text(fixed),
      is_edited ? "\nIts config.yaml has changed since it was written; undo the changes." : "");
}

}  // namespace regard
