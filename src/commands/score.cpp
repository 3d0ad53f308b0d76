// regard score: log-probabilities and alignments of given translations.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "commands/alignment_file.h"
#include "commands/attention_output.h"
#include "commands/commands.h"
#include "commands/output_file.h"
#include "commands/ready_model.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "metrics/alignment_error.h"
#include "metrics/symmetrisation.h"
#include "report/progress.h"
#include "text/n_best.h"
#include "text/utf8.h"
#include "translation/forced_translation.h"
#include "translation/word_alignment.h"
#include "translation/word_scores.h"

namespace regard {
namespace {

using Lines = std::vector<std::string>;

struct Pairs {
  Lines source;
  Lines target;
};

// What a model makes of all pairs: forced translations and, where asked for, their alignments.
class Scorer {
 public:
  explicit Scorer(const ModelArguments& arguments)
      : model_(load_model(arguments)), translator_(model_.translator()) {}

  const ReadyModel& model() const { return model_; }

  void score(const Pairs& pairs, bool want_weights, std::int64_t batch_size) {
    DecodingReporter reporter("scoring", static_cast<std::int64_t>(pairs.source.size()));
    forced_ = force_translations(model_.loaded, model_.device, *model_.workers, pairs.source,
                                 pairs.target, want_weights, batch_size,
                                 [&](std::int64_t done) { reporter.update(done); });
  }

  const std::vector<Translation>& forced() const { return forced_; }

  std::vector<std::string> tokens(const Translation& translation) const {
    return translator_.tokens(translation.hypotheses[0], translation);
  }

  TokenizerKind kind() const { return model_.loaded.options.data.tokenizer.kind; }

 private:
  ReadyModel model_;
  Translator translator_;
  std::vector<Translation> forced_;
};

// A blank source line is translated to a blank one, surely: log 1, and log 0 for anything else.
double log_probability(const Translation& translation, const std::string& target) {
  if (!translation.hypotheses.empty()) return translation.hypotheses[0].log_probability;
  return is_blank(target) ? 0 : -std::numeric_limits<double>::infinity();
}

std::vector<WordScore> scored_words(const Scorer& scorer, const Translation& translation) {
  if (translation.hypotheses.empty()) return {};
  return word_scores(translation.hypotheses[0], scorer.tokens(translation), scorer.kind());
}

std::string text_line(const Scorer& scorer, const Translation& translation, double log_p,
                      bool words) {
  auto line = fmt::format("{:.4f}", log_p);
  if (words) {
    line += " |||";
    for (const auto& score : scored_words(scorer, translation)) line += " " + to_text(score);
  }
  return line + "\n";
}

Json json_line(const Scorer& scorer, const Translation& translation, double log_p, bool words) {
  Json line = {{"log_probability", std::isinf(log_p) ? Json() : Json(log_p)}};
  if (!words) return line;
  line["words"] = to_json(scored_words(scorer, translation));
  return line;
}

struct NBestList {
  std::vector<NBestEntry> entries;
  Pairs pairs;
};

NBestList read_n_best(const std::string& path, const Lines& source, const std::string& source_path,
                      const std::string& feature) {
  NBestList list;
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    auto entry = parse_n_best(line, path, reader.line_number());
    if (entry.sentence >= source.size()) {
      throw InputError("{}:{}: sentence {}, but {} has {} lines, counted from 0", path,
                       reader.line_number(), entry.sentence, source_path, source.size());
    }
    if (has_feature(entry, feature)) {
      throw InputError("{}:{}: has a feature '{}' already; name this one with --feature", path,
                       reader.line_number(), feature);
    }
    list.pairs.source.push_back(source[entry.sentence]);
    list.pairs.target.push_back(entry.text);
    list.entries.push_back(std::move(entry));
  }
  return list;
}

void check_feature(const std::string& name) {
  if (!name.empty() && name.find_first_of(" \t|=") == std::string::npos) return;
  throw ConfigError("--feature '{}': wanted a word without blanks, | and =", name);
}

ExitCode rescore(const ScoreArguments& arguments) {
  check_feature(arguments.feature);
  check_outputs({arguments.source, arguments.n_best}, {arguments.output});
  auto source = read_lines(arguments.source);
  Scorer scorer(arguments.model);
  source = readable(scorer.model(), std::move(source), arguments.source);
  auto list = read_n_best(arguments.n_best, source, arguments.source, arguments.feature);
  OutputFile output(arguments.output);
  list.pairs.target = readable(scorer.model(), std::move(list.pairs.target), arguments.n_best);
  scorer.score(list.pairs, /*want_weights=*/false, arguments.batch_size);
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    auto& entry = list.entries[i];
    const auto log_p = log_probability(scorer.forced()[i], entry.text);
    entry.features +=
        fmt::format("{}{}= {:.4f}", entry.features.empty() ? "" : " ", arguments.feature, log_p);
    output.write(to_n_best(entry) + "\n");
  }
  output.commit();
  return ExitCode::ok;
}

// The forward model's alignments, made one with a reverse model's where there is one.
std::vector<Alignment> aligned(const ScoreArguments& arguments, const Scorer& scorer,
                               const Pairs& pairs, Symmetrisation how) {
  auto alignments = alignments_of(scorer.model(), scorer.forced());
  if (arguments.reverse.empty()) return alignments;
  auto of_reverse = arguments.model;
  of_reverse.models = {arguments.reverse};
  of_reverse.ensemble_weights.clear();
  Scorer reverse(of_reverse);
  require_attention(reverse.model(), "--reverse");
  reverse.score({pairs.target, pairs.source}, /*want_weights=*/true, arguments.batch_size);
  const auto backward = alignments_of(reverse.model(), reverse.forced());
  for (std::size_t i = 0; i < alignments.size(); ++i) {
    alignments[i] = symmetrise(alignments[i], transposed(backward[i]), how);
  }
  return alignments;
}

std::vector<Alignment> read_gold(const ScoreArguments& arguments, const Pairs& pairs) {
  if (arguments.gold.empty()) return {};
  auto gold = read_alignments(arguments.gold);
  check_line_counts(arguments.gold, static_cast<std::int64_t>(gold.size()), arguments.source,
                    static_cast<std::int64_t>(pairs.source.size()));
  check_links(arguments.gold, gold, pairs.source, pairs.target);
  return gold;
}

void warn_of_impossible(const std::vector<Translation>& forced, const Lines& target) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    count += forced[i].hypotheses.empty() && !is_blank(target[i]);
  }
  if (count == 0) return;
  log::warning(
      "{} of {} translations belong to an empty line, which has no other than an empty one: their "
      "log-probability is -inf, and the perplexity is that of the others",
      count, target.size());
}

Json summary_of(const Scorer& scorer, const std::optional<AlignmentScore>& alignment) {
  const auto found = perplexity(scorer.forced());
  Json summary = {{"lines", scorer.forced().size()}, {"perplexity", found ? Json(*found) : Json()}};
  if (alignment) {
    summary["alignment"] = {{"error_rate", alignment->error_rate},
                            {"precision", alignment->precision},
                            {"recall", alignment->recall}};
  }
  return summary;
}

std::string summary_text(const Json& summary) {
  auto text = count_of_lines(summary["lines"].get<std::int64_t>());
  if (const auto& found = summary["perplexity"]; !found.is_null()) {
    text += fmt::format(", perplexity {:.4f}", found.get<double>());
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
    throw ConfigError("score: give translations, either -t FILE or --n-best FILE");
  }
  if (!arguments.n_best.empty()) return rescore(arguments);
  const auto how = symmetrisation_named(arguments.symmetrise);
  check_outputs({arguments.source, arguments.target, arguments.gold},
                {arguments.output, arguments.align});
  Pairs pairs = {read_lines(arguments.source), read_lines(arguments.target)};
  check_line_counts(arguments.source, static_cast<std::int64_t>(pairs.source.size()),
                    arguments.target, static_cast<std::int64_t>(pairs.target.size()));
  const auto gold = read_gold(arguments, pairs);
  Scorer scorer(arguments.model);
  pairs = {readable(scorer.model(), std::move(pairs.source), arguments.source),
           readable(scorer.model(), std::move(pairs.target), arguments.target)};
  const bool align = !arguments.align.empty();
  if (align) require_attention(scorer.model(), "--align");
  OutputFile output(arguments.output);
  std::optional<OutputFile> links;
  if (align) links.emplace(arguments.align);
  scorer.score(pairs, align, arguments.batch_size);
  warn_of_impossible(scorer.forced(), pairs.target);

  std::optional<AlignmentScore> alignment;
  if (align) {
    const auto alignments = aligned(arguments, scorer, pairs, how);
    for (const auto& of_pair : alignments) links->write(to_pharaoh(of_pair) + "\n");
    if (!arguments.gold.empty()) alignment = score_alignments(alignments, gold);
  }
  auto summary = summary_of(scorer, alignment);
  if (arguments.json) summary["scores"] = Json::array();
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    const auto& translation = scorer.forced()[i];
    const auto log_p = log_probability(translation, pairs.target[i]);
    if (arguments.json) {
      summary["scores"].push_back(json_line(scorer, translation, log_p, arguments.words));
    } else {
      output.write(text_line(scorer, translation, log_p, arguments.words));
    }
  }
  if (arguments.json) output.write(summary.dump(2) + "\n");
  output.commit();
  if (links) links->commit();
  if (!arguments.json) log::info("{}", summary_text(summary));
  return ExitCode::ok;
}

}  // namespace regard
