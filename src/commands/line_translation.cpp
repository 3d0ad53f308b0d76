#include "commands/line_translation.h"

#include <span>

#include "base/error.h"
#include "commands/attention_output.h"
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
      split_length_(arguments.split_length) {
  if (split_length_ > 0) check_split(arguments, testing, model);
  if (!arguments.replace_unknown) return;
  require_attention(model, "--replace-unknown");
  unknown_words_.emplace(arguments.dictionary);
}

std::vector<Translation> LineTranslation::translate(
    const std::vector<std::string>& lines, const SearchOptions& search,
    const std::vector<SentenceOptions>& sentences,
    const std::function<void(std::int64_t)>& progress) const {
  std::vector<std::string> parts;
  std::vector<SentenceOptions> of_parts;
  std::vector<std::size_t> counts;  // of each line's parts
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto of_line = split_length_ > 0 ? split_line(lines[i], split_length_)
                                           : std::vector<std::string>{lines[i]};
    counts.push_back(of_line.size());
    parts.insert(parts.end(), of_line.begin(), of_line.end());
    of_parts.insert(of_parts.end(), of_line.size(), sentences[i]);
  }
  auto translations = translator_.translate(parts, search, batch_size_, progress, of_parts);
  if (unknown_words_) {
    for (auto& translation : translations) {
      unknown_words_->replace(tokenizers_, translation);
      if (translation.hypotheses.empty()) continue;
      translation.text = translator_.text(translation.hypotheses[0], translation);
    }
  }
  if (parts.size() == lines.size()) return translations;
  std::vector<Translation> joined;
  std::span rest(translations);
  for (const auto count : counts) {
    joined.push_back(
        join_translations({rest.begin(), rest.begin() + count}, tokenizers_.target->size()));
    rest = rest.subspan(count);
  }
  return joined;
}

}  // namespace regard
