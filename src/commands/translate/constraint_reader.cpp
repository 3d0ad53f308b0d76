#include "commands/translate/constraint_reader.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "commands/output_file.h"
#include "data/byte_stream.h"
#include "data/text_path.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace regard {

ConstraintReader::ConstraintReader(const ConstraintFiles& files, const std::string& input,
                                   std::int64_t max_output_length, SourceKind source,
                                   const PhraseEncoder& phrases)
    : phrases_(phrases),
      input_(input_name(path_or_dash(input))),
      max_output_length_(max_output_length) {
  open(files);
  std::vector<const File*> given;
  for (const auto* file : {&prefixes_, &required_, &bad_words_}) {
    if (file->reader) given.push_back(file);
  }
  if (given.empty() || !std::ranges::all_of(given, [](auto* file) {
        return is_file(file_of_text(file->reader->name()));
      })) {
    return;
  }
  validate_files(input, source);
  lines_read_ = 0;
  open(files);
}

void ConstraintReader::open(const ConstraintFiles& files) {
  const auto open = [](File& file, const std::string& option, const std::string& path) {
    if (path.empty()) return;
    file.option = option;
    file.reader = std::make_unique<LineReader>(path);
    file.line.clear();
  };
  open(prefixes_, "--prefixes", files.prefixes);
  open(required_, "--require", files.require);
  open(bad_words_, "--ban", files.ban);
}

// Reads all constraints once to find errors. If the input is not a regular file, checks only as
// many lines as the shortest constraint file has.
void ConstraintReader::validate_files(const std::string& input, SourceKind source) {
  std::int64_t lines = std::numeric_limits<std::int64_t>::max();
  for (const auto* file : {&prefixes_, &required_, &bad_words_}) {
    if (file->reader) lines = std::min(lines, count_lines(file->reader->name()));
  }
  const bool input_is_file = is_file(file_of_text(input));
  if (input_is_file) lines = count_lines(input, source);
  for (std::int64_t i = 0; i < lines; ++i) next();
  if (input_is_file) check_end();
}

std::string ConstraintReader::location(const File& file) const {
  return fmt::format("{}:{}", file.reader->name(), file.reader->line_number());
}

bool ConstraintReader::next_line(File& file, std::int64_t number) {
  if (!file.reader) return false;
  if (!file.reader->next(file.line)) {
    throw InputError("{}: found {}, but the input has more; {} needs one for each input line",
                     file.reader->name(), counted(number - 1, "line"), file.option);
  }
  return true;
}

void ConstraintReader::check(const SentenceOptions& sentence) const {
  const auto place = [&](const File& file) { return file.reader ? location(file) : ""; };
  phrases_.check(sentence, max_output_length_,
                 {place(prefixes_), place(required_), place(bad_words_)}, "--max-output-length");
}

// Ignores words that are not in the vocabulary: the model can at most copy them.
void ConstraintReader::add_bad_words(SentenceOptions& sentence) {
  for (const auto& part : split(bad_words_.line, '\t')) {
    if (phrases_.add_banned(part, sentence) || warned_) continue;
    log::warning("{}: `{}` is not in the model's vocabulary: the ban is ignored",
                 location(bad_words_), excerpt(part));
    warned_ = true;
  }
}

SentenceOptions ConstraintReader::next() {
  SentenceOptions sentence{.number = ++lines_read_};
  if (next_line(prefixes_, lines_read_)) {
    phrases_.set_prefix(prefixes_.line, location(prefixes_), prefixes_.option, sentence);
  }
  if (next_line(required_, lines_read_)) {
    for (const auto& part : split(required_.line, '\t')) {
      phrases_.add_required(std::string(part), location(required_), required_.option, sentence);
    }
  }
  if (next_line(bad_words_, lines_read_)) add_bad_words(sentence);
  check(sentence);
  return sentence;
}

void ConstraintReader::check_translation(const SentenceOptions& sentence,
                                         const Translation& translation) {
  if (translation.lacks_phrases) unmet_.push_back(sentence.number);
}

void ConstraintReader::check_all_met(const std::string& glossary) const {
  if (unmet_.empty()) return;
  std::string wanted;
  if (required_.reader) wanted = "these phrases";
  if (!glossary.empty()) {
    wanted += fmt::format("{}translations of terms in {}", wanted.empty() ? "" : " and ", glossary);
  }
  throw InputError(
      "{}:{}: found no translation that has all {}{}; this affects {}, whose best translations "
      "were written",
      required_.reader ? required_.reader->name() : input_, unmet_[0], wanted,
      bad_words_.reader ? " and no banned ones" : "", counted(unmet_.size(), "line"));
}

void ConstraintReader::check_end() {
  for (auto* file : {&prefixes_, &required_, &bad_words_}) {
    if (!file->reader || !file->reader->next(file->line)) continue;
    throw InputError(
        "{}: found a line too many: the input has {}; {} needs one for each input line",
        location(*file), lines_read_, file->option);
  }
}

}  // namespace regard
