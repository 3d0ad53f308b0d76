// regard translate: output line i is the translation of input line i.
#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/choice.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "commands/commands.h"
#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "commands/translate/attention_output.h"
#include "commands/translate/attention_report.h"
#include "commands/translate/constraint_reader.h"
#include "commands/translate/line_translator.h"
#include "commands/translate/translation_text.h"
#include "data/line_reader.h"
#include "data/text_path.h"
#include "report/progress.h"
#include "translation/front_end.h"
#include "translation/ordered_lines.h"
#include "translation/text_format.h"
#include "translation/translation_queue.h"
#include "translation/translator.h"
#include "translation/unknown_words.h"

namespace regard {
namespace {

// All outputs of the command, opened before the first line is translated.
class TranslationOutputs {
 public:
  TranslationOutputs(const TranslateArguments& arguments, const LoadedModel& model,
                     const Translator& translator, std::int64_t n_best)
      : model_(model),
        translator_(translator),
        n_best_(static_cast<std::size_t>(n_best)),
        explain_(arguments.explain),
        selection_(arguments.attention, model, translator),
        text_(arguments.format, model.contents.options.data.tokenizer.kind, translator, n_best),
        file_(arguments.output) {
    if (!arguments.alignments.empty()) alignments_.emplace(arguments.alignments, model);
    if (!arguments.attention_weights.empty()) {
      weights_.emplace(arguments.attention_weights, model, selection_);
    }
    const auto scale = choice_named<WeightScale>("--attention-scale", arguments.attention_scale);
    if (!arguments.picture.empty()) picture_.emplace(arguments.picture, model, selection_, scale);
    if (!arguments.report.empty()) report_.emplace(arguments.report, model, translator, scale);
    if (arguments.show_attention) attention_text_.emplace(model, selection_, scale);
  }

  // Returns the bytes of the translations' file for a line, if no other lines are needed for them
  // and the model is not. `number` counts lines from 0. Thread-safe.
  std::string format(std::int64_t number, const QueuedLine& line) const {
    if (explain_ || attention_text_) return {};
    if (line.segment && line.segment->kind != TextFormat::Kind::text) {
      return line.segment->output(line.translation.text);
    }
    return text_.format(number, line.text, line.translation);
  }

  // Only the attention to the source is collected during the search.
  bool want_weights() const {
    const bool shows_maps = weights_ || picture_ || attention_text_;
    return alignments_ || (shows_maps && selection_.has(AttentionMap::source));
  }

  // `line.output` is the result of format().
  void write(std::int64_t number, const QueuedLine& line) {
    const auto& translation = line.translation;
    const auto hypotheses = std::max<std::size_t>(1, n_best_);
    if (alignments_) alignments_->write(translation, translator_, hypotheses);
    if (weights_) {
      weights_->write(number + 1, line.text, translation, translator_, hypotheses);
    }
    if (picture_) picture_->add(number + 1, line.text, translation);
    if (report_) report_->add(number + 1, line.text, translation);
    if (explain_) {
      const auto explanation = explain(model_.contents, model_.device, line.text, translation);
      file_.write(explanation_text(number + 1, translation.text, explanation));
    } else if (attention_text_) {
      file_.write(translation.text + "\n" + attention_text_->draw(line.text, translation) + "\n");
    } else {
      file_.write(line.output);
    }
  }

  void flush() { file_.flush(); }

  void commit() {
    file_.commit();
    if (alignments_) alignments_->commit();
    if (weights_) weights_->commit();
    if (picture_) picture_->commit();
    if (report_) report_->commit();
    if (attention_text_) attention_text_->log_advice();
  }

 private:
  const LoadedModel& model_;
  const Translator& translator_;
  std::size_t n_best_;
  bool explain_;
  AttentionSelection selection_;
  TranslationText text_;
  OutputFile file_;
  std::optional<AlignmentOutput> alignments_;
  std::optional<WeightsOutput> weights_;
  std::optional<PictureOutput> picture_;
  std::optional<ReportOutput> report_;
  std::optional<AttentionText> attention_text_;
};

// Reads the lines with their constraints, and writes their translations.
class TranslateStream : public OrderedLines {
 public:
  // All parameters must outlive this object.
  TranslateStream(LineChunkReader& reader, ConstraintReader& constraints,
                  LineTranslator& line_translator, TranslationOutputs& outputs,
                  DecodingReporter* reporter)
      : reader_(reader),
        constraints_(constraints),
        line_translator_(line_translator),
        outputs_(outputs),
        reporter_(reporter) {}

  bool read(bool few, std::vector<QueuedLine>& lines) override {
    for (auto& segment : reader_.take(few)) {
      // A line of JSON may have several segments, and a document has no constraints.
      const bool is_new = segment.number > number_;
      number_ = segment.number;
      QueuedLine line{.text = segment.line.text};
      line.options = is_new ? constraints_.next() : SentenceOptions{};
      line.options.number = number_;
      line.parts = line_translator_.split(line.text, number_);
      if (segment.kind != TextFormat::Kind::text || !segment.line.marks.empty()) {
        line.segment = std::make_shared<const Segment>(std::move(segment));
      }
      lines.push_back(std::move(line));
    }
    return !reader_.at_end();
  }
  void on_arrival(const std::function<void()>& arrived) override { reader_.on_arrival(arrived); }
  void finish(QueuedLine& line, std::vector<Translation> parts) override {
    line.translation =
        line_translator_.join(std::move(parts), line.options.number, line.segment.get());
    line.output = outputs_.format(line.options.number - 1, line);
  }
  void write(std::vector<QueuedLine> lines) override {
    for (const auto& line : lines) {
      constraints_.check_translation(line.options, line.translation);
      outputs_.write(line.options.number - 1, line);
    }
    outputs_.flush();
  }
  void progress(std::int64_t finished) override {
    if (reporter_ != nullptr) reporter_->update(finished);
  }

 private:
  LineChunkReader& reader_;
  ConstraintReader& constraints_;
  LineTranslator& line_translator_;
  TranslationOutputs& outputs_;
  DecodingReporter* reporter_;
  std::int64_t number_ = 0;  // of the last line read
};

// Returns the number of input lines, for a progress line. Returns nullopt if the input is not a
// file or no progress is shown: with --quiet, or if the translations appear in the terminal.
std::optional<std::int64_t> total_lines(const std::string& input, const std::string& output,
                                        SourceKind source) {
  if (is_standard_stream(input) || log::is_quiet()) return std::nullopt;
  if (is_standard_stream(output) && ::isatty(STDOUT_FILENO) == 1) return std::nullopt;
  if (!is_file(file_of_text(input))) return std::nullopt;
  try {
    return count_lines(input, source);
  } catch (const InputError&) {
    return std::nullopt;  // the translation reports the fault after the lines before it
  }
}

// Returns how many translations of each line are written in Moses format, 0 for the best one as
// plain text. Samples without --mbr are always written in Moses format, because none of them is the
// best.
std::int64_t n_best_count(std::int64_t n_best, const SearchOptions& search) {
  return n_best > 0 || search.mbr != MbrMetric::none ? n_best : search.samples;
}

// Returns the replacements of --replace-unknown; nullopt without it.
std::optional<UnknownWords> unknown_words(const TranslateArguments& arguments,
                                          const LoadedModel& model) {
  if (!arguments.replace_unknown) return std::nullopt;
  require_attention(model, "--replace-unknown");
  return UnknownWords(arguments.dictionary, *model.contents.codec.source,
                      model.contents.options.data.tokenizer.kind);
}

// Returns what is taken out of the texts of the input.
MarkupKinds taken_out(const TranslateArguments& arguments, const LoadedModel& model) {
  if (arguments.markup) require_attention(model, "--markup");
  if (!arguments.keep.empty()) require_attention(model, "--keep");
  if (arguments.text_format == "html") require_attention(model, "--format html");
  return markup_kinds(arguments.markup, arguments.keep);
}

}  // namespace

ExitCode translate(const TranslateArguments& given) {
  auto arguments = given;
  const auto format = text_format(arguments.text_format, arguments.input);
  if (format.kind == TextFormat::Kind::html) arguments.text_format = "html";
  if (!arguments.picture.empty()) check_picture_name(arguments.picture);
  const auto& files = arguments.constraints;
  check_files({path_or_dash(arguments.input), files.prefixes, files.require, files.ban,
               arguments.glossary, arguments.dictionary, arguments.shortlist.file},
              {path_or_dash(arguments.output), arguments.alignments, arguments.attention_weights,
               arguments.picture, arguments.report});
  if (!arguments.report.empty() && !arguments.report.ends_with(".html")) {
    throw ConfigError("--report {}: found no ending .html, which a page needs", arguments.report);
  }
  const auto model = load_models(arguments.model);
  auto translator = model.translator(arguments.shortlist);
  const auto search = arguments.search.apply_to(model.contents.options.search);
  check_search(search, *model.contents.model);
  check_translate(arguments, search, model.contents.options, model.members);
  const FrontEnd front_end(model.contents);
  const auto window = TranslationQueue::window_lines(static_cast<std::size_t>(search.batch_size),
                                                     model.pool->count());
  const auto source = model.contents.options.data.source;
  const auto max_words = longest_part(arguments, search, model.contents.options);
  const auto markup = taken_out(arguments, model);
  LineChunkReader reader(
      std::make_unique<SegmentReader>(path_or_dash(arguments.input), format, markup,
                                      model.contents.options.data.tokenizer.user_symbols, source),
      arguments.input, window, max_words ? LineLimit{} : front_end.limit());
  const auto n_best = n_best_count(arguments.n_best, search);
  ConstraintReader constraints(files, arguments.input, search.max_output_length, source,
                               front_end.phrases());
  if (!arguments.glossary.empty()) {
    translator.use_glossary(front_end.glossary(read_glossary(arguments.glossary)));
  }
  LineTranslator line_translator(arguments.input, max_words, unknown_words(arguments, model), model,
                                 translator, front_end);
  TranslationOutputs outputs(arguments, model, translator, n_best);
  auto request = search_request(search);
  request.want_weights = outputs.want_weights() || line_translator.needs_weights() ||
                         markup.any() || format.kind == TextFormat::Kind::html;
  request.words = front_end.phrases().words();
  request.want_tree = !arguments.report.empty();
  request.n_best = std::max<std::int64_t>(1, n_best);

  if (is_standard_stream(arguments.input) && ::isatty(STDIN_FILENO) == 1) {
    log::info("Reading lines from the terminal; Ctrl-D ends them.");
  }
  const bool counts_lines =
      format.kind == TextFormat::Kind::text || format.kind == TextFormat::Kind::tsv;
  const auto total =
      counts_lines ? total_lines(arguments.input, arguments.output, source) : std::nullopt;
  std::optional<DecodingReporter> reporter;
  if (total) reporter.emplace("translating", total);
  TranslateStream stream(reader, constraints, line_translator, outputs,
                         reporter ? &*reporter : nullptr);
  translator.translate(stream, request, search.batch_size);
  reporter.reset();
  outputs.commit();
  line_translator.log_warnings();
  constraints.check_end();
  constraints.check_all_met(arguments.glossary);
  return ExitCode::ok;
}

}  // namespace regard
