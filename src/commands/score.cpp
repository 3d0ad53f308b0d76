// regard score: log-probabilities and alignments of given translations; adds the log-probabilities
// to an n-best list as a feature.
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "commands/commands.h"
#include "commands/evaluate/evaluation.h"
#include "commands/evaluate/evaluation_report.h"
#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "commands/scorer.h"
#include "commands/translate/attention_output.h"
#include "data/byte_stream.h"
#include "data/feature_file.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "metrics/alignment.h"
#include "report/format.h"
#include "text/n_best.h"
#include "text/unicode.h"
#include "translation/ensemble_folders.h"
#include "translation/score_translations.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

using Lines = std::vector<std::string>;

constexpr double impossible = -1000;  // written for log 0, as features must be finite

// Throws ConfigError for a name that a list cannot have in its third field.
void check_feature(const std::string& name) {
  if (name.empty() || name.find_first_of(" \t|=") != std::string::npos) {
    throw ConfigError("--feature: found '{}', expected a word without blanks, | and =", name);
  }
  if (name == "score" || name == "length") {
    throw ConfigError("--feature: found {}, a feature of every list; choose another name", name);
  }
}

// Throws ConfigError if the source is missing for a model that reads it, or given for another.
void check_source(const LoadedModel& model, const std::string& source) {
  const bool reads_source = model.contents.options.model.kind != ModelKind::language_model;
  if (reads_source && source.empty()) {
    throw ConfigError("score: {} is a translation model; expected its source too, -s FILE",
                      model.path.string());
  }
  if (!reads_source && !source.empty()) {
    throw ConfigError("score: {} is a language model, which reads no source; leave out -s",
                      model.path.string());
  }
}

// Returns the list. Throws InputError with file:line for a malformed entry, a feature that exists
// already, or a sentence that the source does not have; a language model has no source.
std::vector<NBestEntry> read_scored_list(const ScoreArguments& arguments, const Lines& names,
                                         std::size_t source_lines) {
  auto list = read_n_best(arguments.n_best);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto fail = [&](const std::string& message) {
      throw InputError("{}:{}: {}", input_name(arguments.n_best), i + 1, message);
    };
    if (!arguments.source.empty() && list[i].sentence >= source_lines) {
      fail(fmt::format("found sentence {}, but {} has {}, counted from 0", list[i].sentence,
                       input_name(arguments.source), counted(source_lines, "line")));
    }
    for (const auto& name : names) {
      if (!has_feature(list[i], name)) continue;
      fail(fmt::format("already has a feature '{}'; choose another name with --feature", name));
    }
  }
  return list;
}

// Returns the source line and the translation of each entry, or the reverse of it with --swap.
SentencePairs pairs_of_list(const ScoreArguments& arguments, const LoadedModel& model, Lines source,
                            const std::vector<NBestEntry>& list) {
  const auto truncate_texts = arguments.swap ? truncate_source_lines : truncate_target_lines;
  const auto truncate_source = arguments.swap ? truncate_target_lines : truncate_source_lines;
  Lines texts;
  for (const auto& entry : list) texts.push_back(entry.text);
  texts = truncate_texts(model, std::move(texts), arguments.n_best);
  if (arguments.source.empty()) return {texts, texts};
  source = truncate_source(model, std::move(source), arguments.source);
  SentencePairs pairs;
  for (const auto& entry : list) pairs.source.push_back(source[entry.sentence]);
  pairs.target = std::move(texts);
  if (arguments.swap) std::swap(pairs.source, pairs.target);
  return pairs;
}

// Adds the log-probability of each translation in an n-best list as a feature.
ExitCode rescore_n_best(const ScoreArguments& arguments) {
  check_feature(arguments.feature);
  check_files({arguments.source, arguments.n_best}, {path_or_dash(arguments.output)});
  if (arguments.swap && is_feature_file(arguments.source)) {
    throw ConfigError("--swap: it scores the source as text, but {} has features; leave it out",
                      arguments.source);
  }
  Lines source;
  if (!arguments.source.empty()) {
    source = read_lines(arguments.source, source_kind(arguments.model, arguments.source));
  }
  Lines names = {arguments.feature};
  if (arguments.per_token) names.push_back(arguments.feature + "_per_token");
  auto list = read_scored_list(arguments, names, source.size());
  Scorer scorer(arguments.model);
  check_source(scorer.model(), arguments.source);
  if (arguments.swap && arguments.source.empty()) {
    throw ConfigError("--swap: {} is a language model, which reads no source; leave it out",
                      scorer.model().path.string());
  }
  OutputFile output(arguments.output);
  scorer.score(pairs_of_list(arguments, scorer.model(), std::move(source), list),
               /*want_weights=*/false, arguments.batch_size);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto log_p = scorer.log_probability(i);
    const auto value = std::isinf(log_p) ? impossible : log_p;
    add_feature(list[i], arguments.feature, value);
    if (arguments.per_token) {
      const auto& hypotheses = scorer.translations()[i].hypotheses;
      const auto tokens = hypotheses.empty() ? 1 : hypotheses[0].tokens.size() + 1;  // with </s>
      add_feature(list[i], names[1], value / static_cast<double>(tokens));
    }
    output.write(format_n_best(list[i]) + "\n");
  }
  output.commit();
  return ExitCode::ok;
}

std::string text_line(const Scorer& scorer, std::size_t i, bool words) {
  auto line = format_fixed(scorer.log_probability(i), 4);
  if (words) {
    line += " |||";
    for (const auto& score : scorer.words(i)) line += " " + to_text(score);
  }
  return line + "\n";
}

Json json_line(const Scorer& scorer, std::size_t i, bool words) {
  const auto log_p = scorer.log_probability(i);
  Json line = {{"log_probability", std::isinf(log_p) ? Json() : Json(log_p)}};
  if (words) line["words"] = to_json(scorer.words(i));
  return line;
}

// Returns the model of --reverse, or null without one.
std::unique_ptr<Scorer> load_reverse(const ScoreArguments& arguments, const Scorer& forward) {
  if (arguments.reverse.empty()) return nullptr;
  auto reverse_arguments = arguments.model;
  reverse_arguments.language_model.clear();  // that of the target language
  reverse_arguments.models = {arguments.reverse};
  reverse_arguments.ensemble_weights.clear();
  reverse_arguments.tags = arguments.reverse_tags;
  reverse_arguments.tag_options = reverse_tag_options;
  auto reverse = std::make_unique<Scorer>(reverse_arguments);
  require_attention(reverse->model(), "--reverse");
  warn_if_not_reverse(languages(forward.model().contents.options), reverse->model());
  return reverse;
}

// Returns the alignments of the forward model, symmetrised with those of a reverse model if given.
std::vector<Alignment> align_pairs(const ScoreArguments& arguments, const Scorer& forward,
                                   Scorer* reverse, const SentencePairs& pairs,
                                   Symmetrisation method) {
  auto alignments = alignments_of(forward.model(), forward.translations());
  if (reverse == nullptr) return alignments;
  reverse->score({pairs.target, pairs.source}, /*want_weights=*/true, arguments.batch_size);
  const auto backward = alignments_of(reverse->model(), reverse->translations());
  for (std::size_t i = 0; i < alignments.size(); ++i) {
    alignments[i] = symmetrise(alignments[i], transposed(backward[i]), method);
  }
  return alignments;
}

std::vector<GoldAlignment> read_gold(const ScoreArguments& arguments, const SentencePairs& pairs) {
  if (arguments.gold.empty()) return {};
  auto gold = read_alignments(arguments.gold);
  check_line_counts(arguments.gold, gold.size(), arguments.source, pairs.source.size());
  check_links(arguments.gold, gold, pairs.source, pairs.target);
  return gold;
}

void warn_if_impossible(const std::vector<Translation>& translations, const Lines& target) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    count += translations[i].hypotheses.empty() && !is_blank(target[i]);
  }
  if (count == 0) return;
  log::warning(
      "{} of {}: the source line is empty, so only an empty translation is possible; the "
      "log-probability is -inf, and the perplexity leaves them out",
      count, counted(target.size(), "translation"));
}

Json make_summary(const Scorer& scorer, const std::optional<AlignmentScore>& alignment) {
  const auto value = perplexity(scorer.translations());
  Json summary = {{"lines", scorer.translations().size()},
                  {"perplexity", value ? Json(*value) : Json()}};
  if (alignment) {
    summary["alignment"] = to_json(*alignment);
  }
  return summary;
}

std::string summary_text(const Json& summary) {
  auto text = counted(summary["lines"].get<std::int64_t>(), "line");
  if (const auto& value = summary["perplexity"]; !value.is_null()) {
    text += fmt::format(", perplexity {}", format_fixed(value.get<double>(), 4));
  }
  if (summary.contains("alignment")) {
    const auto& alignment = summary["alignment"];
    text += fmt::format(", alignment error rate {:.4f} (precision {:.4f}, recall {:.4f})",
                        alignment["error_rate"].get<double>(), alignment["precision"].get<double>(),
                        alignment["recall"].get<double>());
  }
  return text;
}

}  // namespace

ExitCode score(const ScoreArguments& arguments) {
  if (arguments.target.empty() == arguments.n_best.empty()) {
    throw ConfigError("score: expected either -t FILE or --n-best FILE");
  }
  if (!arguments.n_best.empty()) return rescore_n_best(arguments);
  const auto method = parse_symmetrisation(arguments.symmetrise);
  check_files({arguments.source, arguments.target, arguments.gold},
              {path_or_dash(arguments.output), arguments.align});
  const auto source_name = arguments.source.empty() ? arguments.target : arguments.source;
  SentencePairs pairs;
  pairs.target = read_lines(arguments.target);
  pairs.source = arguments.source.empty()
                     ? pairs.target
                     : read_lines(arguments.source, source_kind(arguments.model, arguments.source));
  check_line_counts(source_name, pairs.source.size(), arguments.target, pairs.target.size());
  const auto gold = read_gold(arguments, pairs);
  Scorer scorer(arguments.model);
  check_source(scorer.model(), arguments.source);
  pairs = {truncate_source_lines(scorer.model(), std::move(pairs.source), source_name),
           truncate_target_lines(scorer.model(), std::move(pairs.target), arguments.target)};
  const bool align = !arguments.align.empty();
  if (align) require_attention(scorer.model(), "--align");
  const auto reverse = load_reverse(arguments, scorer);
  OutputFile output(arguments.output);
  std::optional<OutputFile> links;
  if (align) links.emplace(arguments.align);
  scorer.score(pairs, align, arguments.batch_size);
  warn_if_impossible(scorer.translations(), pairs.target);

  std::optional<AlignmentScore> alignment;
  if (align) {
    const auto alignments = align_pairs(arguments, scorer, reverse.get(), pairs, method);
    for (const auto& of_pair : alignments) links->write(to_pharaoh(of_pair) + "\n");
    if (!arguments.gold.empty()) alignment = score_alignments(alignments, gold);
  }
  auto summary = make_summary(scorer, alignment);
  if (arguments.json) summary["scores"] = Json::array();
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    if (arguments.json) {
      summary["scores"].push_back(json_line(scorer, i, arguments.words));
    } else {
      output.write(text_line(scorer, i, arguments.words));
    }
  }
  if (arguments.json) output.write(to_text(summary, 2) + "\n");
  output.commit();
  if (links) links->commit();
  if (!arguments.json) log::info("{}", summary_text(summary));
  return ExitCode::ok;
}

}  // namespace regard
