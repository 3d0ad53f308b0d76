// regard score: log-probabilities and alignments of given translations.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "commands/alignment_file.h"
#include "commands/attention_output.h"
#include "commands/commands.h"
#include "commands/evaluation_report.h"
#include "commands/output_file.h"
#include "commands/rescore_n_best.h"
#include "commands/scorer.h"
#include "data/corpus_look.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "metrics/alignment_error.h"
#include "metrics/symmetrisation.h"
#include "report/format.h"
#include "text/utf8.h"
#include "translation/forced_translation.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

using Lines = std::vector<std::string>;

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

// Those of the training files, en and fr; nothing where they do not tell.
std::pair<std::string, std::string> languages(const ReadyModel& model) {
  const auto& train = model.loaded.options.data.train;
  if (train.empty()) return {};
  const std::pair both = {language_of(train[0].src), language_of(train[0].trg)};
  return both.first == both.second ? std::pair<std::string, std::string>() : both;
}

void warn_of_other_languages(const ReadyModel& model, const ReadyModel& reverse) {
  const auto [source, target] = languages(model);
  const auto [from, to] = languages(reverse);
  if (source == to && target == from) return;
  if (source.empty() || from.empty()) return;
  log::warning("--reverse {}: was trained from {} to {}; wanted one from {} to {}",
               reverse.path.string(), from, to, target, source);
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
  warn_of_other_languages(scorer.model(), reverse.model());
  reverse.score({pairs.target, pairs.source}, /*want_weights=*/true, arguments.batch_size);
  const auto backward = alignments_of(reverse.model(), reverse.forced());
  for (std::size_t i = 0; i < alignments.size(); ++i) {
    alignments[i] = symmetrise(alignments[i], transposed(backward[i]), how);
  }
  return alignments;
}

std::vector<GoldAlignment> read_gold(const ScoreArguments& arguments, const Pairs& pairs) {
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
      "{} of {}: the source line is empty, and has no other translation than an empty one; the "
      "log-probability is -inf, and the perplexity is that of the others",
      count, counted(target.size(), "translation"));
}

Json summary_of(const Scorer& scorer, const std::optional<AlignmentScore>& alignment) {
  const auto found = perplexity(scorer.forced());
  Json summary = {{"lines", scorer.forced().size()}, {"perplexity", found ? Json(*found) : Json()}};
  if (alignment) {
    summary["alignment"] = to_json(*alignment);
  }
  return summary;
}

std::string summary_text(const Json& summary) {
  auto text = counted(summary["lines"].get<std::int64_t>(), "line");
  if (const auto& found = summary["perplexity"]; !found.is_null()) {
    text += fmt::format(", perplexity {}", format_fixed(found.get<double>(), 4));
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
  if (!arguments.n_best.empty()) return rescore_n_best(arguments);
  const auto how = symmetrisation_named(arguments.symmetrise);
  check_files({arguments.source, arguments.target, arguments.gold},
              {standard_unless_given(arguments.output), arguments.align});
  Pairs pairs = {read_lines(arguments.source), read_lines(arguments.target)};
  check_line_counts(arguments.source, static_cast<std::int64_t>(pairs.source.size()),
                    arguments.target, static_cast<std::int64_t>(pairs.target.size()));
  const auto gold = read_gold(arguments, pairs);
  Scorer scorer(arguments.model);
  pairs = {readable_source(scorer.model(), std::move(pairs.source), arguments.source),
           readable_target(scorer.model(), std::move(pairs.target), arguments.target)};
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
