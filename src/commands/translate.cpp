// regard translate: lines in, lines out, line i translating line i.
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "commands/attention_output.h"
#include "commands/commands.h"
#include "commands/explanation_text.h"
#include "commands/line_feed.h"
#include "commands/output_file.h"
#include "commands/ready_model.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "report/progress.h"
#include "translation/check_search.h"

namespace regard {
namespace {

// So many batches' worth of lines are sorted by length together.
constexpr std::int64_t batches_in_chunk = 16;

// Counts what a user should hear of once, at the end.
class Doubts {
 public:
  explicit Doubts(const Options& options) : options_(options) {}

  void look_at(const Translation& translation) {
    if (translation.hypotheses.empty()) return;
    const auto length = static_cast<std::int64_t>(translation.source_tokens.size()) - 1;
    ++sentences_;
    too_long_ += length > options_.data.max_length;
    cut_off_ += !translation.hypotheses[0].finished;
  }

  void log() const {
    if (too_long_ > 0) {
      log::warning("longer than anything in training (data.max_length, {} tokens): {} of {} lines",
                   options_.data.max_length, too_long_, sentences_);
    }
    if (cut_off_ > 0) {
      log::warning(
          "cut off at the greatest length (--max-output-length, --max-output-ratio): {} of {} "
          "translations",
          cut_off_, sentences_);
    }
  }

 private:
  const Options& options_;
  std::int64_t sentences_ = 0;
  std::int64_t too_long_ = 0;
  std::int64_t cut_off_ = 0;
};

// The first `count` hypotheses in the format of Moses.
std::string n_best_lines(std::int64_t number, const Translation& translation,
                         const Translator& translator, std::size_t count) {
  std::string lines;
  for (std::size_t k = 0; k < std::min(count, translation.hypotheses.size()); ++k) {
    const auto& hypothesis = translation.hypotheses[k];
    lines += fmt::format("{} ||| {} ||| logprob= {:.4f} ||| {:.4f}\n", number,
                         translator.text(hypothesis, translation), hypothesis.log_probability,
                         hypothesis.score);
  }
  return lines;
}

// The things that can be written, opened before the first line is translated.
class Outputs {
 public:
  Outputs(const TranslateArguments& arguments, const ReadyModel& model, std::int64_t n_best)
      : model_(model),
        n_best_(static_cast<std::size_t>(n_best)),
        explain_(arguments.explain),
        text_(arguments.output) {
    if (!arguments.alignments.empty()) alignments_.emplace(arguments.alignments, model);
    if (!arguments.picture.empty()) picture_.emplace(arguments.picture, model);
  }

  bool want_weights() const { return alignments_ || picture_; }

  void write(std::int64_t number, const std::string& line, const Translation& translation,
             const Translator& translator) {
    const auto hypotheses = std::max<std::size_t>(1, n_best_);
    if (alignments_) alignments_->write(translation, translator, hypotheses, n_best_ == 0);
    if (picture_) picture_->add(translation, translator);
    if (explain_) {
      const auto explanation = explain(model_.loaded, model_.device, line, translation);
      text_.write(explanation_text(number + 1, translation.text, explanation));
    } else {
      text_.write(n_best_ > 0 ? n_best_lines(number, translation, translator, n_best_)
                              : translation.text + "\n");
    }
  }

  void flush() { text_.flush(); }

  void commit() {
    text_.commit();
    if (alignments_) alignments_->commit();
    if (picture_) picture_->commit();
  }

 private:
  const ReadyModel& model_;
  std::size_t n_best_;
  bool explain_;
  OutputFile text_;
  std::optional<AlignmentOutput> alignments_;
  std::optional<PictureOutput> picture_;
};

// Of a file, and only where somebody would see how far it is.
std::optional<std::int64_t> total_lines(const std::string& input) {
  if (input.empty() || input == "-" || !stderr_terminal().live) return std::nullopt;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(input, ignored)) return std::nullopt;
  return count_lines(input, /*may_grow=*/true);
}

void check(const TranslateArguments& arguments, const TestingOptions& testing,
           const ReadyModel& model) {
  check_search(testing, *model.loaded.model);
  if (testing.samples > 0 && arguments.n_best > testing.samples) {
    throw ConfigError("--n-best {}: only {} samples are drawn; draw more with --samples",
                      arguments.n_best, testing.samples);
  }
  if (testing.samples == 0 && arguments.n_best > testing.beam_size) {
    throw ConfigError("--n-best {}: the search keeps only {} hypotheses; widen it with --beam-size",
                      arguments.n_best, testing.beam_size);
  }
}

// How many translations of each line are written in Moses's format; 0 where it is one, plain.
// Samples are always written so, as none of them is the best.
std::int64_t lines_wanted(const TranslateArguments& arguments, const TestingOptions& testing) {
  return arguments.n_best == 0 && !arguments.explain ? testing.samples : arguments.n_best;
}

}  // namespace

ExitCode translate(const TranslateArguments& arguments) {
  if (!arguments.picture.empty()) check_picture_name(arguments.picture);
  check_outputs({arguments.input}, {arguments.output, arguments.alignments, arguments.picture});
  const auto model = load_model(arguments.model);
  const auto translator = model.translator();
  const auto testing = arguments.search.over(model.loaded.options.testing);
  check(arguments, testing, model);
  LineFeed feed(arguments.input, static_cast<std::size_t>(testing.batch_size * batches_in_chunk),
                longest_line(model.loaded.options.data));
  const auto n_best = lines_wanted(arguments, testing);
  Outputs outputs(arguments, model, n_best);
  auto search = search_options(testing);
  search.want_weights = outputs.want_weights();
  search.n_best = std::max<std::int64_t>(1, n_best);

  const auto total = total_lines(arguments.input);
  std::optional<DecodingReporter> reporter;
  if (total) reporter.emplace("translating", total);
  Doubts doubts(model.loaded.options);
  std::int64_t number = 0;
  for (auto lines = feed.take(); !lines.empty(); lines = feed.take()) {
    const auto translations = translator.translate(
        lines, search, testing.batch_size,
        [&](std::int64_t done) {
          if (reporter) reporter->update(number + done);
        },
        number + 1);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      outputs.write(number++, lines[i], translations[i], translator);
      doubts.look_at(translations[i]);
    }
    outputs.flush();
  }
  reporter.reset();
  outputs.commit();
  doubts.log();
  return ExitCode::ok;
}

}  // namespace regard
