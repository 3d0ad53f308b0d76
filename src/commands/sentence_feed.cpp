#include "commands/sentence_feed.h"

#include <algorithm>

#include "base/error.h"
#include "decoding/demanded_phrases.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace regard {
namespace {

using Phrase = std::vector<std::int32_t>;

bool has(const Phrase& tokens, const Phrase& phrase) {
  return std::search(tokens.begin(), tokens.end(), phrase.begin(), phrase.end()) != tokens.end();
}

std::vector<std::string> split_at_tabs(const std::string& line) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= line.size();) {
    const auto tab = std::min(line.find('\t', begin), line.size());
    parts.push_back(line.substr(begin, tab - begin));
    begin = tab + 1;
  }
  return parts;
}

}  // namespace

SentenceFeed::SentenceFeed(const TranslateArguments& arguments, const TestingOptions& testing,
                           const ReadyModel& model)
    : tokenizers_(model.loaded.tokenizers),
      kind_(model.loaded.options.data.tokenizer.kind),
      longest_(testing.max_output_length) {
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

std::vector<std::int64_t> SentenceFeed::inside_words() const {
  std::vector<std::int64_t> inside;
  if (kind_ != TokenizerKind::bpe && kind_ != TokenizerKind::unigram) return inside;
  for (std::int32_t id = special_count; id < tokenizers_.target->size(); ++id) {
    if (!tokenizers_.target->token(id).starts_with("\u2581")) inside.push_back(id);
  }
  return inside;
}

std::string SentenceFeed::place(const File& file) const {
  return fmt::format("{}:{}", file.reader->name(), file.reader->line_number());
}

bool SentenceFeed::next(File& file, std::int64_t number) {
  if (!file.reader) return false;
  if (!file.reader->next(file.line)) {
    throw InputError("{}: has {} lines, but the input has more: {} wants one for each line",
                     file.reader->name(), number - 1, file.option);
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
  for (const auto& part : split_at_tabs(file.line)) {
    if (!is_blank(part)) found.push_back(encode(file, part));
  }
  return found;
}

void SentenceFeed::check(const SentenceOptions& sentence) const {
  auto needed = sentence.prefix.size();
  for (const auto& phrase : sentence.demanded) needed += phrase.size();
  if (needed > 0 && static_cast<std::int64_t>(needed) >= longest_) {
    throw InputError(
        "{}: found {} tokens to be said, wanted fewer than max_output_length, {}; "
        "raise it with --max-output-length",
        place(sentence.demanded.empty() ? prefixes_ : demanded_), needed, longest_);
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

std::vector<SentenceOptions> SentenceFeed::take(std::size_t count) {
  std::vector<SentenceOptions> sentences;
  while (sentences.size() < count) {
    SentenceOptions sentence{.number = ++read_};
    if (next(prefixes_, read_) && !is_blank(prefixes_.line)) {
      sentence.prefix = encode(prefixes_, prefixes_.line);
    }
    if (next(demanded_, read_)) sentence.demanded = phrases(demanded_);
    if (next(banned_, read_)) sentence.banned = phrases(banned_);
    check(sentence);
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

void SentenceFeed::check_met(const SentenceOptions& sentence,
                             const Translation& translation) const {
  if (sentence.demanded.empty()) return;
  for (const auto& hypothesis : translation.hypotheses) {
    if (progress_of(hypothesis.tokens, sentence.demanded).complete) continue;
    throw InputError("{}:{}: no translation was found that has all these phrases{}",
                     demanded_.reader->name(), sentence.number,
                     sentence.banned.empty() ? "" : " and none of those that are banned");
  }
}

void SentenceFeed::check_end() {
  for (auto* file : {&prefixes_, &demanded_, &banned_}) {
    if (!file->reader || !file->reader->next(file->line)) continue;
    throw InputError("{}: is a line too many: the input has {}, and {} wants one for each",
                     place(*file), read_, file->option);
  }
}

}  // namespace regard
