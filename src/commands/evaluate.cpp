// regard evaluate: translations against references, either a model's, made here, or a file's.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "commands/attention_output.h"
#include "commands/commands.h"
#include "commands/evaluation.h"
#include "commands/output_file.h"
#include "commands/ready_model.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "report/progress.h"
#include "text/utf8.h"
#include "translation/forced_translation.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

using Lines = std::vector<std::string>;

// The lines of each text that was given.
struct Texts {
  Lines source;
  Lines hypotheses;
  References references;
  std::vector<std::pair<std::string, Lines>> compared;  // each under its name
  std::vector<Alignment> gold;
};

Lines read_lines(const std::string& path) {
  LineReader reader(path);
  Lines lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

void check_counts(const std::string& first_path, std::size_t first, const std::string& second_path,
                  std::size_t second) {
  check_line_counts(first_path, static_cast<std::int64_t>(first), second_path,
                    static_cast<std::int64_t>(second));
}

std::vector<Alignment> read_alignments(const std::string& path) {
  std::vector<Alignment> alignments;
  for (const auto& line : read_lines(path)) {
    alignments.push_back(parse_alignment(line, path, alignments.size() + 1));
  }
  return alignments;
}

// "out/attention.fr" is called "attention", "runs/attention/" too.
std::string name_of(const std::filesystem::path& path) {
  return (path.has_filename() ? path : path.parent_path()).stem().string();
}

Texts read_texts(const EvaluateArguments& arguments) {
  Texts texts;
  if (!arguments.source.empty()) texts.source = read_lines(arguments.source);
  if (!arguments.hypotheses.empty()) texts.hypotheses = read_lines(arguments.hypotheses);
  for (const auto& path : arguments.references) {
    texts.references.push_back(read_lines(path));
    if (!std::ranges::all_of(texts.references.back(), is_blank)) continue;
    throw InputError("{}: empty, so there is nothing to score", path);
  }
  const auto& first = arguments.references[0];
  const auto count = texts.references[0].size();
  for (std::size_t r = 1; r < texts.references.size(); ++r) {
    check_counts(arguments.references[r], texts.references[r].size(), first, count);
  }
  if (!arguments.source.empty()) {
    check_counts(arguments.source, texts.source.size(), first, count);
  }
  if (!arguments.hypotheses.empty()) {
    check_counts(arguments.hypotheses, texts.hypotheses.size(), first, count);
  }
  for (const auto& path : arguments.compared) {
    texts.compared.emplace_back(name_of(path), read_lines(path));
    check_counts(path, texts.compared.back().second.size(), first, count);
  }
  if (!arguments.gold.empty()) {
    texts.gold = read_alignments(arguments.gold);
    check_counts(arguments.gold, texts.gold.size(), first, count);
  }
  return texts;
}

MetricOptions metric_options(const EvaluateArguments& arguments) {
  MetricOptions options;
  options.bleu.tokenizer = bleu_tokenizer_named(arguments.tokenizer);
  options.bleu.lowercase = arguments.lowercase;
  options.chrf.lowercase = arguments.lowercase;
  options.chrf.word_order = arguments.chrf_word_order;
  return options;
}

// What only a model can tell: its translations, and what it makes of the references.
class ModelEvaluation {
 public:
  explicit ModelEvaluation(const EvaluateArguments& arguments)
      : model_(load_model(arguments.model)),
        testing_(arguments.search.over(model_.loaded.options.testing)) {
    check_search(testing_, model_);
    if (!arguments.gold.empty()) require_attention(model_, "--alignments-gold");
  }

  // What the model reads of these lines; says so where that is not all.
  Lines readable(Lines lines, const std::string& path) const {
    const auto longest = longest_line(model_.loaded.options.data);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto warning = cut_long_line(lines[i], longest, path, static_cast<std::int64_t>(i) + 1);
      if (warning) log::warning("{}", *warning);
    }
    return lines;
  }

  Lines translate(const Lines& source) const {
    DecodingReporter reporter("translating", static_cast<std::int64_t>(source.size()));
    Lines hypotheses;
    for (auto& translation :
         model_.translator().translate(source, search_options(testing_), testing_.batch_size,
                                       [&](std::int64_t done) { reporter.update(done); })) {
      hypotheses.push_back(std::move(translation.text));
    }
    return hypotheses;
  }

  void judge_reference(const Texts& texts, const Lines& reference, Evaluation& evaluation) const {
    const bool align = !texts.gold.empty();
    DecodingReporter reporter("scoring", static_cast<std::int64_t>(texts.source.size()));
    const auto forced = force_translations(model_.loaded, model_.device, *model_.workers,
                                           texts.source, reference, align, testing_.batch_size,
                                           [&](std::int64_t done) { reporter.update(done); });
    evaluation.perplexity = perplexity(forced);
    if (align) evaluation.alignment = score_alignment(forced, texts.gold);
  }

 private:
  AlignmentScore score_alignment(const std::vector<Translation>& forced,
                                 const std::vector<Alignment>& gold) const {
    const auto kind = model_.loaded.options.data.tokenizer.kind;
    const auto translator = model_.translator();
    std::vector<Alignment> proposed;
    for (const auto& translation : forced) {
      if (translation.hypotheses.empty()) {
        proposed.emplace_back();
        continue;
      }
      const auto& hypothesis = translation.hypotheses[0];
      proposed.push_back(align_words(hypothesis.weights, translation.source_tokens,
                                     translator.tokens(hypothesis, translation), kind));
    }
    return score_alignments(proposed, gold);
  }

  ReadyModel model_;
  TestingOptions testing_;
};

void score_lengths(const EvaluateArguments& arguments, const Texts& texts, Evaluation& evaluation) {
  const auto score = [&](const Lines& hypotheses) {
    return score_by_length(texts.source, hypotheses, texts.references, arguments.by_length,
                           evaluation.options.bleu, evaluation.options.chrf);
  };
  evaluation.by_length = score(texts.hypotheses);
  for (const auto& [name, lines] : texts.compared) {
    evaluation.compared.emplace_back(name, score(lines));
  }
}

void print(const EvaluateArguments& arguments, const Evaluation& evaluation) {
  OutputFile output("");
  output.write(arguments.json ? to_json(evaluation).dump(2) + "\n" : to_text(evaluation));
  output.commit();
}

}  // namespace

ExitCode evaluate(const EvaluateArguments& arguments) {
  if (arguments.model.model.empty() == arguments.hypotheses.empty()) {
    throw ConfigError("evaluate: give either a model (-m) to translate with, or --hypotheses");
  }
  std::vector<std::string> inputs = {arguments.source, arguments.hypotheses, arguments.gold};
  inputs.insert(inputs.end(), arguments.references.begin(), arguments.references.end());
  inputs.insert(inputs.end(), arguments.compared.begin(), arguments.compared.end());
  check_outputs(inputs, {arguments.output, arguments.by_length_svg});
  const auto options = metric_options(arguments);
  check_length_edges(arguments.by_length);
  auto texts = read_texts(arguments);
  std::optional<OutputFile> translations;
  std::optional<OutputFile> picture;
  if (!arguments.output.empty()) translations.emplace(arguments.output);
  if (!arguments.by_length_svg.empty()) picture.emplace(arguments.by_length_svg);
  // All that could be wrong has been looked at: now the work begins.
  std::optional<ModelEvaluation> model;
  if (!arguments.model.model.empty()) {
    model.emplace(arguments);
    texts.source = model->readable(std::move(texts.source), arguments.source);
    texts.hypotheses = model->translate(texts.source);
    if (translations) {
      for (const auto& line : texts.hypotheses) translations->write(line + "\n");
      translations->commit();
    }
  }
  auto evaluation = evaluate_texts(texts.hypotheses, texts.references, options);
  if (model) {
    model->judge_reference(texts, model->readable(texts.references[0], arguments.references[0]),
                           evaluation);
  }
  evaluation.name = name_of(model ? arguments.model.model : arguments.hypotheses);
  if (!arguments.by_length.empty()) score_lengths(arguments, texts, evaluation);
  if (picture) {
    picture->write(by_length_svg(evaluation));
    picture->commit();
  }
  print(arguments, evaluation);
  return ExitCode::ok;
}

}  // namespace regard
