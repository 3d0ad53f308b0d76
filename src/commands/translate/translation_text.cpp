#include "commands/translate/translation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/json.h"
#include "base/strings.h"
#include "report/format.h"
#include "report/table.h"
#include "text/n_best.h"
#include "translation/score_translations.h"

namespace regard {
namespace {

// Returns the first max_count hypotheses. A blank line has one empty hypothesis with log P = 0.
std::vector<Hypothesis> best_hypotheses(const Translation& translation, std::size_t max_count) {
  auto best = translation.hypotheses;
  if (best.empty()) {
    best.emplace_back();
    best[0].finished = true;
  }
  best.resize(std::min(max_count, best.size()));
  return best;
}

constexpr std::size_t max_numbers = 6;

// Returns "0.123", "(0.123, 0.456)", or the first numbers of a long vector: "(0.123, …)".
std::string numbers_text(const std::vector<float>& x) {
  if (x.size() == 1) return format_fixed(x[0], 3);
  std::string text;
  for (std::size_t i = 0; i < std::min(x.size(), max_numbers); ++i) {
    text += (i > 0 ? ", " : "") + format_fixed(x[i], 3);
  }
  return fmt::format("({}{})", text, x.size() > max_numbers ? ", …" : "");
}

// Returns "query = (0.123, -0.534, …), 256 numbers, length 4.21", or "" for an empty vector.
std::string vector_line(std::string_view name, const std::vector<float>& x) {
  if (x.empty()) return "";
  double square = 0;
  for (const double number : x) square += number * number;
  return fmt::format("  {} = {}, {}, length {}\n", name, numbers_text(x),
                     counted(x.size(), "number"), format_fixed(std::sqrt(square), 3));
}

// Returns a line with the further quantities of a step, "p_t = 3.214, …"; "" if there are none.
std::string numbers_line(const ExplainedStep& step) {
  std::string line;
  const auto add = [&](std::string_view name, const std::vector<float>& numbers) {
    line += fmt::format("{}{} = {}", line.empty() ? "  " : ", ", name, numbers_text(numbers));
  };
  for (const auto& [name, numbers] : step.quantities) add(name, numbers);
  if (step.p_gen) add("p_gen", {static_cast<float>(*step.p_gen)});
  return line.empty() ? "" : line + "\n";
}

// One row per source token with the columns that the step has: score, weight of each head, weight,
// pointer probability. Draws the last column as a bar too.
std::string positions_table(const std::vector<std::string>& source, const ExplainedStep& step) {
  std::vector<Table::Column> columns = {{"  s", Align::right}, {"x_s", Align::left}};
  std::vector<const std::vector<float>*> values;
  const auto add_column = [&](std::string_view name, const std::vector<float>& numbers) {
    if (numbers.empty()) return;
    columns.push_back({std::string(name), Align::right});
    values.push_back(&numbers);
  };
  add_column("score e_ts", step.scores);
  if (step.heads.size() == 1) {  // the heads of one layer fit into the table
    for (std::size_t h = 0; h < step.heads[0].size(); ++h) {
      add_column(fmt::format("head {}", h + 1), step.heads[0][h]);
    }
  }
  add_column("weight α_ts", step.weights);
  add_column("P(y_t = s)", step.pointer);
  if (values.empty()) return "";
  columns.push_back({"", Align::left});
  Table table(columns);
  for (std::size_t s = 0; s < source.size(); ++s) {
    std::vector<std::string> cells = {fmt::format("{}", s + 1), source[s]};
    for (const auto* numbers : values) cells.push_back(format_fixed(numbers->at(s), 3));
    const auto length = std::max(0L, std::lround(20 * values.back()->at(s)));
    cells.push_back(repeat("█", static_cast<std::size_t>(length)));
    table.add(cells);
  }
  return table.text();
}

}  // namespace

TranslationText::TranslationText(const LineFormat& format, TokenizerKind kind,
                                 const Translator& translator, std::int64_t n_best)
    : translator_(translator),
      kind_(kind),
      n_best_(static_cast<std::size_t>(n_best)),
      format_(format) {}

std::string TranslationText::format(std::int64_t number, const std::string& line,
                                    const Translation& translation) const {
  if (format_.json) return json_line(number, line, translation);
  return n_best_ > 0 ? n_best_lines(number, translation) : plain(translation);
}

std::vector<WordScore> TranslationText::word_scores_of(const Translation& translation,
                                                       const Hypothesis& hypothesis) const {
  return word_scores(hypothesis, translator_.tokens(hypothesis, translation), kind_);
}

std::string TranslationText::word_scores_text(const Translation& translation,
                                              const Hypothesis& hypothesis) const {
  std::string text;
  for (const auto& score : word_scores_of(translation, hypothesis)) {
    text += (text.empty() ? "" : " ") + to_text(score);
  }
  return text;
}

std::string TranslationText::plain(const Translation& translation) const {
  if (!format_.scores && !format_.word_scores) return translation.text + "\n";
  const auto hypothesis = best_hypotheses(translation, 1)[0];
  std::string text;
  if (format_.scores)
    text += fmt::format("{:.4f}\t{:.4f}\t", hypothesis.log_probability, ranking_score(hypothesis));
  text += translation.text;
  if (format_.word_scores) text += "\t" + word_scores_text(translation, hypothesis);
  return text + "\n";
}

std::string TranslationText::n_best_lines(std::int64_t number,
                                          const Translation& translation) const {
  std::string lines;
  for (const auto& hypothesis : best_hypotheses(translation, n_best_)) {
    std::string words;
    if (format_.word_scores) {
      words = " words=";
      for (const auto& score : word_scores_of(translation, hypothesis)) {
        words += fmt::format(" {:.4f}", score.log_probability);
      }
    }
    lines += format_n_best(
                 {.sentence = static_cast<std::size_t>(number),
                  .text = translator_.text(hypothesis, translation),
                  .features = fmt::format("logprob= {:.4f}{}", hypothesis.log_probability, words),
                  .score = fmt::format("{:.4f}", ranking_score(hypothesis)),
                  .extra_fields = {}}) +
             "\n";
  }
  return lines;
}

std::string TranslationText::json_line(std::int64_t number, const std::string& line,
                                       const Translation& translation) const {
  const auto object_of = [&](const Hypothesis& hypothesis) {
    auto entry = hypothesis_json(translator_, hypothesis, translation);
    entry["words"] =
        to_json(word_scores(hypothesis, translator_.tokens(hypothesis, translation), kind_));
    return entry;
  };
  Json object = {{"line", number + 1}, {"source", line}};
  if (n_best_ == 0) object.update(object_of(best_hypotheses(translation, 1)[0]));
  if (n_best_ > 0) {
    object["hypotheses"] = Json::array();
    for (const auto& hypothesis : best_hypotheses(translation, n_best_)) {
      object["hypotheses"].push_back(object_of(hypothesis));
    }
  }
  return to_text(object) + "\n";
}

std::string explanation_text(std::int64_t line, const std::string& translation,
                             const Explanation& explanation) {
  auto text = fmt::format("line {}: {}\n", line, translation);
  for (std::size_t t = 0; t < explanation.steps.size(); ++t) {
    const auto& step = explanation.steps[t];
    text += fmt::format("\nstep {}: {}  P = {:.3f}\n", t + 1, step.token, step.probability);
    text += vector_line("query", step.query);
    text += numbers_line(step);
    text += positions_table(explanation.source_tokens, step);
    text += vector_line("context", step.context);
  }
  return text + "\n";
}

}  // namespace regard
