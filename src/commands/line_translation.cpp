#include "commands/line_translation.h"

#include <span>

#include "base/error.h"
#include "base/log.h"
#include "commands/attention_output.h"
#include "commands/output_file.h"
#include "data/byte_stream.h"
#include "translation/long_lines.h"

namespace regard {
namespace {

void check_split(const TranslateArguments& arguments, const TestingOptions& testing,
                 const ReadyModel& model) {
  const auto refuse = [](const std::string& option, const std::string& why) {
    throw ConfigError("--split-length does not go with {}: {}", option, why);
  };
  if (arguments.n_best > 1) refuse("--n-best", "parts have n-best lists of their own");
  if (testing.samples > 0) refuse("samples", "parts have samples of their own");
  if (arguments.explain) refuse("--explain", "it explains a line as a whole");
  if (!arguments.report.empty()) refuse("--report", "it looks into a line as a whole");
  for (const auto& [option, path] : {std::pair{"--prefixes", arguments.prefixes},
                                     {"--demand", arguments.demand},
                                     {"--ban", arguments.ban}}) {
    if (!path.empty()) refuse(option, "it holds of a line as a whole");
  }
  const auto& options = model.loaded.options.model;
  if (options.output.kind == OutputKind::pointer || options.encoder.numbers > 0) {
    refuse("this model", "a sequence of elements has no sentences to part it at");
  }
}

}  // namespace

LineTranslation::LineTranslation(const TranslateArguments& arguments, const TestingOptions& testing,
                                 const ReadyModel& model, const Translator& translator)
    : translator_(translator),
      tokenizers_(model.loaded.tokenizers),
      batch_size_(testing.batch_size),
      split_length_(arguments.split_length),
      limit_(source_line_limit(tokenizers_, model.loaded.options.data)),
      input_(input_name(standard_unless_given(arguments.input))),
      kind_(model.loaded.options.data.tokenizer.kind),
      doubts_(model.loaded.options) {
  if (split_length_ > 0) check_split(arguments, testing, model);
  if (!arguments.replace_unknown) return;
  require_attention(model, "--replace-unknown");
  if (arguments.explain || !arguments.report.empty()) {
    throw ConfigError("--replace-unknown does not go with {}, which shows what the model says",
                      arguments.explain ? "--explain" : "--report");
  }
  unknown_words_.emplace(arguments.dictionary, *tokenizers_.source, kind_);
}

std::vector<Translation> LineTranslation::translate(
    const std::vector<std::string>& lines, const SearchOptions& search,
    const std::vector<SentenceOptions>& sentences,
    const std::function<void(std::int64_t)>& progress) {
  std::vector<std::string> parts;
  std::vector<SentenceOptions> of_parts;
  std::vector<std::size_t> counts;  // of each line's parts
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto of_line = parts_of(lines[i]);
    counts.push_back(of_line.size());
    parts.insert(parts.end(), of_line.begin(), of_line.end());
    of_parts.insert(of_parts.end(), of_line.size(), sentences[i]);
  }
  const auto line_of = [&](std::int64_t part) {
    return part * static_cast<std::int64_t>(lines.size()) / static_cast<std::int64_t>(parts.size());
  };
  auto translations = translator_.translate(
      parts, search, batch_size_, [&](std::int64_t done) { progress(line_of(done)); }, of_parts);
  for (auto& translation : translations) {
    doubts_.look_at(translation);
    if (unknown_words_) unknown_words_->replace(tokenizers_, translation);
  }
  if (parts.size() > lines.size()) translations = joined(translations, counts);
  if (parts.size() > lines.size() || unknown_words_) {
    for (auto& translation : translations) {
      if (translation.hypotheses.empty()) continue;
      translation.text = translator_.text(translation.hypotheses[0], translation);
    }
  }
  return translations;
}

// A line that is not to be split was cut where it was read.
std::vector<std::string> LineTranslation::parts_of(const std::string& line) {
  ++lines_;
  if (split_length_ == 0) return {line};
  auto parts = split_line(line, split_length_);
  for (auto& part : parts) {
    const auto warning = cut_long_line(part, limit_, input_, lines_);
    if (warning) log::warning("{}", *warning);
  }
  return parts;
}

std::vector<Translation> LineTranslation::joined(const std::vector<Translation>& parts,
                                                 const std::vector<std::size_t>& counts) const {
  std::vector<Translation> lines;
  std::span rest(parts);
  for (const auto count : counts) {
    lines.push_back(join_translations(rest.first(count), tokenizers_.target->size(), kind_));
    rest = rest.subspan(count);
  }
  return lines;
}

}  // namespace regard
