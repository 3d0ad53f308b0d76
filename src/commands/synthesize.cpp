// regard synthesize: makes training pairs from text without translations.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "checkpoint/manifest.h"
#include "checkpoint/run_folder.h"
#include "commands/commands.h"
#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "commands/translate/line_translator.h"
#include "config/scalar.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "data/pair_journal.h"
#include "data/synthetic_filter.h"
#include "data/text_path.h"
#include "kernels/device.h"
#include "report/format.h"
#include "report/progress.h"
#include "report/table.h"
#include "text/unicode.h"
#include "translation/ordered_lines.h"
#include "translation/translation_queue.h"
#include "translation/translator.h"

namespace regard {
namespace {

constexpr std::size_t shown_digits = 16;  // of a SHA-256

enum class Side { source, target };

Side side_named(const std::string& name) {
  if (name == "source") return Side::source;
  if (name == "target") return Side::target;
  throw ConfigError("--side: found `{}`, expected source or target", name);
}

void check_tag(const std::string& tag) {
  if (tag.empty()) return;
  if (first_invalid_utf8(tag) < tag.size() || escape_controls(tag) != tag || is_blank(tag) ||
      tag.find_first_of("\t\n") != std::string::npos) {
    throw ConfigError("--tag: found `{}`, expected text without tabs and line breaks",
                      escape_controls(tag));
  }
}

void check_names(const SynthesizeArguments& arguments) {
  const auto& output = arguments.output;
  if (is_standard_stream(output) || !std::filesystem::path(output).has_filename()) {
    throw ConfigError(
        "-o: found `{}`, expected a name such as `synthetic`, for the files synthetic.src, "
        "synthetic.trg and synthetic.json",
        output);
  }
  std::vector<std::string> outputs;
  for (const auto* suffix : {".src", ".trg", ".json", ".src.part", ".trg.part", ".lock"}) {
    outputs.push_back(output + suffix);
  }
  check_files({arguments.input, arguments.shortlist.file}, outputs);
}

struct TextFacts {
  std::int64_t lines = 0;
  std::string sha256;  // of the lines, each with a line feed
};

// Reads the whole text, so that its errors are found before anything is translated. Throws
// InputError if it is not a regular file, and the errors of LineReader and check_elements().
TextFacts inspect(const std::string& path, const LineLimit& limit) {
  std::error_code ignored;
  const auto file = file_of_text(path);
  const bool is_there = is_standard_stream(path) || std::filesystem::exists(file, ignored);
  if (is_there && !is_file(file) && !std::filesystem::is_directory(file, ignored)) {
    throw InputError(
        "-i {}: found a stream, expected a file, which a process that goes on after a kill reads "
        "again; copy the text to a file",
        path);
  }
  LineReader reader(path);
  Sha256 hash;
  std::string line;
  while (reader.next(line)) {
    check_elements(line, limit, reader.name(), reader.line_number());
    line.push_back('\n');
    hash.update(line);
  }
  return {reader.line_number(), hash.hex_digest()};
}

std::string short_digest(const std::string& bytes) {
  return sha256(bytes).substr(0, shown_digits);
}

// Returns a digest of the files of a model that decide on its translations.
std::string model_digest(const std::filesystem::path& folder) {
  std::string text;
  for (const auto& [name, checksum] : read_manifest(folder).files) {
    if (name.starts_with("training.")) continue;
    text += fmt::format("{} {}\n", name, checksum.sha256);
  }
  return short_digest(text);
}

std::string_view name_of(kernels::Precision precision) {
  constexpr std::array<std::string_view, 3> names = {"fp32", "bf16", "int8"};
  return names[static_cast<std::size_t>(precision)];
}

// Returns all that the pairs depend on, for PairJournal. The number of threads and the batch size
// change nothing.
Json settings_of(const SynthesizeArguments& arguments, const LoadedModel& model,
                 const SearchOptions& search, const SyntheticFilterOptions& filter,
                 const TextFacts& text) {
  Json settings = Json::object();
  settings["input"] = fmt::format("{}, SHA-256 {}", counted(text.lines, "line"),
                                  text.sha256.substr(0, shown_digits));
  std::string models;
  for (const auto& path : arguments.model.models) {
    models += (models.empty() ? "" : " ") + model_digest(path);
  }
  settings["model"] = "SHA-256 " + models;
  if (arguments.model.models.size() > 1) {
    settings["ensemble_mean"] = arguments.model.ensemble_mean;
    settings["ensemble_weights"] =
        fmt::format("{}", fmt::join(arguments.model.ensemble_weights, " "));
  }
  if (!arguments.model.language_model.empty()) {
    settings["lm"] = "SHA-256 " + model_digest(arguments.model.language_model);
    settings["lm_weight"] = to_yaml(arguments.model.language_model_weight);
  }
  if (const auto& shortlist = arguments.shortlist; !shortlist.file.empty()) {
    settings["shortlist"] =
        fmt::format("SHA-256 {}, {} frequent, {} best",
                    short_digest(read_file<InputError>(shortlist.file, "shortlist")),
                    shortlist.frequent, shortlist.best);
  }
  settings["device"] = model.device.str();
  settings["precision"] = kernels::is_tf32_search(arguments.model.precision, model.device)
                              ? "tf32"
                              : name_of(model.precision);
  settings["side"] = arguments.side;
  settings["tag"] = arguments.tag;
  settings["src_tag"] = arguments.model.tags.source;
  settings["trg_tag"] = arguments.model.tags.target;
  settings["min_score"] = filter.min_score ? to_yaml(*filter.min_score) : "(none)";
  settings["min_length"] = to_yaml(filter.min_length);
  settings["max_length"] = to_yaml(filter.max_length);
  settings["max_ratio"] = to_yaml(filter.max_ratio);
  settings["keep_unfinished"] = to_yaml(filter.keep_unfinished);
  settings["keep_copies"] = to_yaml(filter.keep_copies);
  settings["keep_duplicates"] = to_yaml(filter.keep_duplicates);
  for_each_field(
      [&](const auto& field, const auto& value) {
        if (field.name == "batch_size" || field.name == "validation_beam_size") return;
        settings[std::string(field.name)] = to_yaml(value);
      },
      search);
  return settings;
}

// Lengths that are not given are those of the training pairs of the model. Throws ConfigError for
// filters that no pair passes.
SyntheticFilterOptions filter_options(const SynthesizeArguments& arguments,
                                      const DataOptions& data) {
  const auto max_length = arguments.max_length.value_or(data.max_length);
  if (max_length > 0 && arguments.min_length > max_length) {
    throw ConfigError("--min-length: found {}, expected at most {}, the largest length",
                      arguments.min_length, max_length);
  }
  if (arguments.max_ratio && *arguments.max_ratio > 0 && *arguments.max_ratio < 1) {
    throw ConfigError("--max-ratio: found {}, expected at least 1, or 0 for no limit",
                      *arguments.max_ratio);
  }
  return {.min_score = arguments.min_score,
          .min_length = arguments.min_length,
          .max_length = max_length,
          .max_ratio = arguments.max_ratio.value_or(data.max_ratio),
          .keep_unfinished = arguments.keep_unfinished,
          .keep_copies = arguments.keep_copies,
          .keep_duplicates = arguments.keep_duplicates};
}

// Reads the lines after those that are done, and writes their pairs.
class SynthesisStream : public OrderedLines {
 public:
  // All parameters must outlive this object.
  SynthesisStream(LineChunkReader& reader, const SynthesizeArguments& arguments,
                  const LoadedModel& model, const Translator& translator,
                  const SearchOptions& search, const SyntheticFilterOptions& options,
                  SyntheticFilter& filter, PairJournal& journal, DecodingReporter& reporter)
      : reader_(reader),
        codec_(model.contents.codec),
        translator_(translator),
        side_(side_named(arguments.side)),
        prefix_(arguments.tag.empty() ? "" : arguments.tag + " "),
        uses_all_(search.samples > 0 && search.mbr == MbrMetric::none),
        max_bytes_(source_line_limit(codec_, model.contents.options.data).bytes),
        max_tokens_(options.max_length),
        filter_(filter),
        journal_(journal),
        reporter_(reporter),
        done_lines_(journal.progress().lines) {
    const auto limit = model.contents.model->source_limit();
    if (limit) {
      const auto of_model = limit->max_tokens - 1;  // without </s>
      max_tokens_ = max_tokens_ == 0 ? of_model : std::min(max_tokens_, of_model);
    }
  }

  bool read(bool few, std::vector<QueuedLine>& lines) override {
    while (lines.empty()) {
      auto texts = reader_.take(few);
      if (texts.empty()) break;
      for (auto& segment : texts) {
        if (++read_lines_ <= done_lines_) continue;
        lines.push_back({.text = std::move(segment.line.text), .options = {.number = read_lines_}});
        if (is_too_long(lines.back().text)) {  // without text, it is not translated
          lines.back().text.clear();
          lines.back().output = too_long;
        }
      }
    }
    return !reader_.at_end();
  }
  void on_arrival(const std::function<void()>& arrived) override { reader_.on_arrival(arrived); }
  void write(std::vector<QueuedLine> lines) override {
    for (const auto& line : lines) {
      const auto& hypotheses = line.translation.hypotheses;
      if (hypotheses.empty()) {
        filter_.count(line.output == too_long ? PairFate::too_long : PairFate::empty);
      }
      const auto used = uses_all_ ? hypotheses.size() : std::min<std::size_t>(1, hypotheses.size());
      for (std::size_t i = 0; i < used; ++i) add(line, hypotheses[i]);
    }
    journal_.end_lines(std::ssize(lines), filter_.counts());
  }
  void progress(std::int64_t finished) override { reporter_.update(finished); }

 private:
  static constexpr const char* too_long = "too long";

  // A token has at least one byte, except at the start of a line.
  bool is_too_long(const std::string& text) const {
    if (text.size() > max_bytes_) return true;
    const auto tagged = codec_.tagged_source(text);
    if (max_tokens_ == 0 || std::ssize(tagged) < max_tokens_) return false;
    return std::ssize(codec_.source->encode(tagged)) > max_tokens_;
  }

  void add(const QueuedLine& line, const Hypothesis& hypothesis) {
    const auto translation = translator_.text(hypothesis, line.translation);
    const auto& source = side_ == Side::source ? translation : line.text;
    const auto& target = side_ == Side::source ? line.text : translation;
    const auto tagged = prefix_ + source;
    const TranslatedLine pair = {.text = line.text,
                                 .translation = translation,
                                 .text_tokens = line.translation.source_length,
                                 .translation_tokens = std::ssize(hypothesis.tokens),
                                 .log_probability = hypothesis.log_probability,
                                 .finished = hypothesis.finished};
    if (filter_.judge(pair, tagged, target) == PairFate::kept) journal_.add(tagged, target);
  }

  LineChunkReader& reader_;
  const TextCodec& codec_;
  const Translator& translator_;
  Side side_;
  std::string prefix_;  // the tag and a space
  bool uses_all_;       // each sample is a pair; of other searches, the best hypothesis
  std::size_t max_bytes_;
  std::int64_t max_tokens_;  // of a line that is translated; 0: no limit
  SyntheticFilter& filter_;
  PairJournal& journal_;
  DecodingReporter& reporter_;
  std::int64_t done_lines_;  // by earlier processes
  std::int64_t read_lines_ = 0;
};

// Returns a table of the translations: kept, and dropped for each reason.
std::string fates_table(const SyntheticFilter& filter) {
  std::vector<Table::Column> columns;
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < pair_fates; ++i) {
    const auto fate = static_cast<PairFate>(i);
    columns.push_back({std::string(name_of(fate)), Align::right});
    cells.push_back(format_thousands(filter.count_of(fate)));
  }
  Table table(std::move(columns));
  table.add(std::move(cells));
  return table.text();
}

// Logs the files and how to train on them.
void log_result(const PairJournal& journal, const SynthesizeArguments& arguments) {
  const auto& progress = journal.progress();
  const auto source = journal.source_path().string(), target = journal.target_path().string();
  if (progress.pairs == 0) {
    log::warning("{}, {}: no pair of {} passed the filters", source, target,
                 counted(progress.lines, "line"));
    return;
  }
  std::string tags;  // of the direction of the pairs, which is the model's
  if (side_named(arguments.side) == Side::target) {
    const auto& [src_tag, trg_tag] = arguments.model.tags;
    if (!src_tag.empty()) tags += ", src_tag: " + to_yaml(src_tag);
    if (!trg_tag.empty()) tags += ", trg_tag: " + to_yaml(trg_tag);
  }
  log::info(
      "{}, {}: {} from {}. Train on them with this entry of data.train:\n"
      "    - {{src: {}, trg: {}{}}}",
      source, target, counted(progress.pairs, "pair"), counted(progress.lines, "line"), source,
      target, tags);
}

}  // namespace

ExitCode synthesize(const SynthesizeArguments& given) {
  check_names(given);
  check_tag(given.tag);
  side_named(given.side);
  auto arguments = given;  // with the folders of this moment, as a training may replace its best
  for (auto& path : arguments.model.models) path = resolve_model(path).string();
  if (auto& path = arguments.model.language_model; !path.empty()) {
    path = resolve_model(path).string();
  }
  const auto model = load_models(arguments.model);
  require_translation(model, "synthesize");
  const auto& data = model.contents.options.data;
  if (data.source == SourceKind::features) {
    throw ConfigError(
        "synthesize: {} reads features, but the pairs are text; translate with `regard translate`",
        model.path.string());
  }
  const auto search = arguments.search.apply_to(model.contents.options.search);
  check_search(search, *model.contents.model);
  const auto translator = model.translator(arguments.shortlist);
  const auto text = inspect(arguments.input, source_line_limit(model.contents.codec, data));
  const auto options = filter_options(arguments, data);

  PairJournal journal(arguments.output, settings_of(arguments, model, search, options, text),
                      arguments.fresh);
  if (journal.is_complete()) {
    log::info("{}: was complete; nothing was written (--fresh starts over)", arguments.output);
    log_result(journal, arguments);
    return ExitCode::ok;
  }
  SyntheticFilter filter(options);
  filter.set_counts(journal.progress().counts);
  journal.read_pairs([&](std::string_view source, std::string_view target) {
    filter.add_earlier(source, target);
  });
  const auto done = journal.progress().lines;
  if (done > 0) {
    log::info("Goes on after line {} of {}, with {}", done, text.lines,
              counted(journal.progress().pairs, "pair"));
  }

  const auto window = TranslationQueue::window_lines(static_cast<std::size_t>(search.batch_size),
                                                     model.pool->count());
  LineChunkReader reader(arguments.input, window);
  {
    DecodingReporter reporter("translating", text.lines - done);
    SynthesisStream stream(reader, arguments, model, translator, search, options, filter, journal,
                           reporter);
    translator.translate(stream, search_request(search), search.batch_size);
  }
  if (journal.progress().lines != text.lines) {
    throw InputError(
        "{}: changed while it was read: found {}, expected {}; start over with --fresh",
        arguments.input, counted(journal.progress().lines, "line"), text.lines);
  }
  journal.finish();
  log::info("{}", fates_table(filter));
  log_result(journal, arguments);
  return ExitCode::ok;
}

}  // namespace regard
