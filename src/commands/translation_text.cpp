#include "commands/translation_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "text/n_best.h"
#include "translation/word_scores.h"

namespace regard {
namespace {

// The first of them. A blank line is translated to a blank one, surely: log 1.
std::vector<Hypothesis> hypotheses_of(const Translation& translation, std::size_t most) {
  auto found = translation.hypotheses;
  if (found.empty()) {
    found.emplace_back();
    found[0].finished = true;
  }
  found.resize(std::min(most, found.size()));
  return found;
}

}  // namespace

TranslationText::TranslationText(const TranslateArguments& arguments, const ReadyModel& model,
                                 const Translator& translator, std::int64_t n_best)
    : translator_(translator),
      kind_(model.loaded.options.data.tokenizer.kind),
      n_best_(static_cast<std::size_t>(n_best)),
      scores_(arguments.scores),
      word_scores_(arguments.word_scores),
      json_(arguments.json) {}

std::string TranslationText::of(std::int64_t number, const std::string& line,
                                const Translation& translation) const {
  if (json_) return json_line(number, line, translation);
  return n_best_ > 0 ? n_best_lines(number, translation) : plain(translation);
}

std::vector<WordScore> TranslationText::scores_of(const Translation& translation,
                                                  const Hypothesis& hypothesis) const {
  return word_scores(hypothesis, translator_.tokens(hypothesis, translation), kind_);
}

std::string TranslationText::word_scores_of(const Translation& translation,
                                            const Hypothesis& hypothesis) const {
  std::string text;
  for (const auto& score : scores_of(translation, hypothesis)) {
    text += (text.empty() ? "" : " ") + to_text(score);
  }
  return text;
}

std::string TranslationText::plain(const Translation& translation) const {
  if (!scores_ && !word_scores_) return translation.text + "\n";
  const auto hypothesis = hypotheses_of(translation, 1)[0];
  std::string text;
  if (scores_)
    text += fmt::format("{:.4f}\t{:.4f}\t", hypothesis.log_probability, hypothesis.score);
  text += translation.text;
  if (word_scores_) text += "\t" + word_scores_of(translation, hypothesis);
  return text + "\n";
}

std::string TranslationText::n_best_lines(std::int64_t number,
                                          const Translation& translation) const {
  std::string lines;
  for (const auto& hypothesis : hypotheses_of(translation, n_best_)) {
    std::string words;
    if (word_scores_) {
      words = " words=";
      for (const auto& score : scores_of(translation, hypothesis)) {
        words += fmt::format(" {:.4f}", score.log_probability);
      }
    }
    lines +=
        to_n_best({.sentence = static_cast<std::size_t>(number),
                   .text = translator_.text(hypothesis, translation),
                   .features = fmt::format("logprob= {:.4f}{}", hypothesis.log_probability, words),
                   .score = fmt::format("{:.4f}", hypothesis.score),
                   .more = {}}) +
        "\n";
  }
  return lines;
}

std::string TranslationText::json_line(std::int64_t number, const std::string& line,
                                       const Translation& translation) const {
  const auto object_of = [&](const Hypothesis& hypothesis) {
    return Json{{"translation", translator_.text(hypothesis, translation)},
                {"log_probability", hypothesis.log_probability},
                {"score", hypothesis.score},
                {"finished", hypothesis.finished},
                {"words", to_json(word_scores(
                              hypothesis, translator_.tokens(hypothesis, translation), kind_))}};
  };
  Json object = {{"line", number + 1}, {"source", line}};
  if (n_best_ == 0) object.update(object_of(hypotheses_of(translation, 1)[0]));
  if (n_best_ > 0) {
    object["n_best"] = Json::array();
    for (const auto& hypothesis : hypotheses_of(translation, n_best_)) {
      object["n_best"].push_back(object_of(hypothesis));
    }
  }
  return to_text(object) + "\n";
}

}  // namespace regard
