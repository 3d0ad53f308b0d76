#include "commands/sentence_feed.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/counted.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/split.h"
#include "decoding/demanded_phrases.h"
#include "text/inside_words.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace regard {
namespace {

using Phrase = std::vector<std::int32_t>;

bool has(const Phrase& tokens, const Phrase& phrase) {
  return std::search(tokens.begin(), tokens.end(), phrase.begin(), phrase.end()) != tokens.end();
}

}  // namespace

SentenceFeed::SentenceFeed(const TranslateArguments& arguments, const TestingOptions& testing,
                           const ReadyModel& model)
    : tokenizers_(model.loaded.tokenizers),
      inside_words_(
          regard::inside_words(*tokenizers_.target, model.loaded.options.data.tokenizer.kind)),
      longest_(testing.max_output_length) {
  open(arguments, testing);
  std::vector<const File*> files;
  for (const auto* file : {&prefixes_, &demanded_, &banned_}) {
    if (file->reader) files.push_back(file);
  }
  if (files.empty() ||
      !std::ranges::all_of(files, [](auto* file) { return is_file(file->reader->name()); })) {
    return;
  }
  rehearse(arguments.input);
  read_ = 0;
  open(arguments, testing);
}

void SentenceFeed::open(const TranslateArguments& arguments, const TestingOptions& testing) {
  const auto open = [&](File& file, const std::string& option, const std::string& path) {
    if (path.empty()) return;
    if (tokenizers_.output == OutputKind::pointer) {
      throw ConfigError("{}: the model says positions of the source, no words of its own", option);
    }
    file = {option, std::make_unique<LineReader>(path), {}};
  };
  open(prefixes_, "--prefixes", arguments.prefixes);
  open(demanded_, "--demand", arguments.demand);
  open(banned_, "--ban", arguments.ban);
  if (demanded_.reader && testing.samples > 0) {
    throw ConfigError(
        "--demand: found testing.samples {}, wanted 0: phrases are demanded of a "
        "beam search",
        testing.samples);
  }
}

// Of an input that can be read only once, as many lines as all files have.
void SentenceFeed::rehearse(const std::string& input) {
  std::int64_t lines = std::numeric_limits<std::int64_t>::max();
  for (const auto* file : {&prefixes_, &demanded_, &banned_}) {
    if (file->reader) lines = std::min(lines, count_lines(file->reader->name()));
  }
  const bool known = is_file(input);
  if (known) lines = count_lines(input, /*may_grow=*/true);
  for (std::int64_t i = 0; i < lines; ++i) take(1);
  if (known) check_end();
}

std::string SentenceFeed::place(const File& file) const {
  return fmt::format("{}:{}", file.reader->name(), file.reader->line_number());
}

bool SentenceFeed::next(File& file, std::int64_t number) {
  if (!file.reader) return false;
  if (!file.reader->next(file.line)) {
    throw InputError("{}: has {}, but the input has more: {} wants one for each line",
                     file.reader->name(), counted(number - 1, "line"), file.option);
  }
  return true;
}

Phrase SentenceFeed::encode(const File& file, const std::string& phrase) const {
  const auto ids = tokenizers_.target->encode(phrase);
  const auto unknown = std::find(ids.begin(), ids.end(), unk_id);
  if (unknown == ids.end()) return ids;
  const auto pieces = tokenizers_.target->pieces(phrase);
  const auto at = static_cast<std::size_t>(unknown - ids.begin());
  throw InputError("{}: `{}` is not in the model's vocabulary, so {} cannot be heeded", place(file),
                   excerpt(at < pieces.size() ? pieces[at] : phrase), file.option);
}

std::vector<Phrase> SentenceFeed::phrases(const File& file) const {
  std::vector<Phrase> found;
  for (const auto& part : split(file.line, '\t')) {
    auto ids = encode(file, std::string(part));
    if (!ids.empty()) found.push_back(std::move(ids));
  }
  return found;
}

void SentenceFeed::check(const SentenceOptions& sentence) const {
  auto needed = sentence.prefix.size();
  for (const auto& phrase : sentence.demanded) needed += phrase.size();
  if (needed > 0 && static_cast<std::int64_t>(needed) >= longest_) {
    throw InputError(
        "{}: found {} to be said, wanted fewer than max_output_length, {}; "
        "raise it with --max-output-length",
        place(sentence.demanded.empty() ? prefixes_ : demanded_), counted(needed, "token"),
        longest_);
  }
  for (const auto& ban : sentence.banned) {
    const auto contradicts = [&](const Phrase& phrase) { return has(phrase, ban); };
    const bool demanded =
        std::any_of(sentence.demanded.begin(), sentence.demanded.end(), contradicts);
    if (!demanded && !contradicts(sentence.prefix)) continue;
    throw InputError("{}: `{}` is banned, but {} asks for it", place(banned_),
                     tokenizers_.target->decode(ban), place(demanded ? demanded_ : prefixes_));
  }
}

// What the model cannot say it does not.
std::vector<Phrase> SentenceFeed::bans() {
  std::vector<Phrase> found;
  for (const auto& part : split(banned_.line, '\t')) {
    auto ids = tokenizers_.target->encode(part);
    if (std::ranges::count(ids, unk_id) > 0) {
      if (!warned_) {
        log::warning("{}: `{}` is not in the model's vocabulary, and need not be banned",
                     place(banned_), excerpt(part));
      }
      warned_ = true;
    } else if (!ids.empty()) {
      found.push_back(std::move(ids));
    }
  }
  return found;
}

std::vector<SentenceOptions> SentenceFeed::take(std::size_t count) {
  std::vector<SentenceOptions> sentences;
  while (sentences.size() < count) {
    SentenceOptions sentence{.number = ++read_};
    if (next(prefixes_, read_) && !is_blank(prefixes_.line)) {
      sentence.prefix = encode(prefixes_, prefixes_.line);
    }
    if (next(demanded_, read_)) sentence.demanded = phrases(demanded_);
    if (next(banned_, read_)) sentence.banned = bans();
    check(sentence);
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

void SentenceFeed::look_at(const SentenceOptions& sentence, const Translation& translation) {
  if (sentence.demanded.empty()) return;
  const auto lacks = [&](const Hypothesis& hypothesis) {
    return !progress_of(hypothesis.tokens, sentence.demanded, inside_words_).complete;
  };
  if (std::ranges::any_of(translation.hypotheses, lacks)) unmet_.push_back(sentence.number);
}

void SentenceFeed::check_all_met() const {
  if (unmet_.empty()) return;
  throw InputError(
      "{}:{}: no translation was found that has all these phrases{}; so it is with {}, "
      "translated as well as it could be",
      demanded_.reader->name(), unmet_[0],
      banned_.reader ? " and none of those that are banned" : "", counted(unmet_.size(), "line"));
}

void SentenceFeed::check_end() {
  for (auto* file : {&prefixes_, &demanded_, &banned_}) {
    if (!file->reader || !file->reader->next(file->line)) continue;
    throw InputError("{}: is a line too many: the input has {}, and {} wants one for each",
                     place(*file), read_, file->option);
  }
}

}  // namespace regard
