#include "text/sentencepiece_tokenizer.h"

#include <sched.h>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <random>
#include <span>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/strings.h"
#include "text/sentencepiece_model.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace sentencepiece::random {
std::mt19937* GetRandomGenerator();  // of the calling thread; exported, but in no installed header
}

namespace regard {
namespace {

// Limits of the cache: about 30 MB when full.
constexpr std::size_t max_cached_words = 200000;
constexpr std::size_t max_cached_bytes = 32;               // of a word
constexpr std::size_t cache_slots = std::size_t{1} << 19;  // at most 40 % are in use

}  // namespace

WordCache::WordCache() : slots_(std::make_unique<std::atomic<const Entry*>[]>(cache_slots)) {}

WordCache::~WordCache() {
  for (std::size_t i = 0; i < cache_slots; ++i) delete slots_[i].load();
}

std::vector<std::int32_t> WordCache::encode(std::string_view line, const Encode& encode_word) {
  std::vector<std::int32_t> ids;
  while (!line.empty()) {
    const auto word = line.substr(0, line.find(' '));
    if (!word.empty()) append_word(word, encode_word, ids);
    line.remove_prefix(std::min(word.size() + 1, line.size()));
  }
  return ids;
}

void WordCache::append_word(std::string_view word, const Encode& encode_word,
                            std::vector<std::int32_t>& ids) {
  auto at = std::hash<std::string_view>{}(word) % cache_slots;
  const auto add = [&](const std::vector<std::int32_t>& word_ids) {
    ids.insert(ids.end(), word_ids.begin(), word_ids.end());
  };
  for (; const auto* entry = slots_[at].load(std::memory_order_acquire);
       at = (at + 1) % cache_slots) {
    if (entry->word == word) return add(entry->ids);
  }
  auto word_ids = encode_word(word);
  add(word_ids);
  if (word.size() > max_cached_bytes || size_ >= max_cached_words) return;
  auto added = std::make_unique<const Entry>(Entry{std::string(word), std::move(word_ids)});
  for (const Entry* found = nullptr;
       !slots_[at].compare_exchange_strong(found, added.get(), std::memory_order_acq_rel);
       found = nullptr, at = (at + 1) % cache_slots) {
    if (found->word == word) return;  // another thread was faster
  }
  static_cast<void>(added.release());
  ++size_;
}

namespace {

void check_status(const sentencepiece::util::Status& status) {
  if (!status.ok()) throw InputError("SentencePiece cannot use its model: {}", status.ToString());
}

// Returns false if the library rejects the model. It throws if a piece is empty or contains NUL.
bool load(sentencepiece::SentencePieceProcessor& processor, std::string_view bytes) {
  try {
    return processor.LoadFromSerializedProto(bytes).ok();
  } catch (const std::exception&) {
    return false;
  }
}

// Replaces ASCII white space such as tabs, which is in no piece and would be unknown, by spaces.
std::string with_plain_spaces(std::string text) {
  for (char& c : text) {
    if (c >= '\t' && c <= '\r') c = ' ';
  }
  return text;
}

// Returns a text as the library encodes it.
std::string library_text(std::string_view text) {
  return with_plain_spaces(with_literal_symbols(text));
}

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string_view bytes, std::span<const std::string> symbols,
                         const std::string& name)
      : bytes_(with_user_symbols(bytes, symbols)), symbols_(symbols.begin(), symbols.end()) {
    if (bytes.empty() || !normalization_rules_in_bounds(bytes) || !load(processor_, bytes_)) {
      throw InputError("{}: not a SentencePiece model, expected one", name);
    }
    check_special_ids(name);
    if (encodes_word_by_word(bytes_, symbols)) words_ = std::make_unique<WordCache>();
    for (const auto& symbol : symbols_) symbol_ids_.push_back(processor_.PieceToId(symbol));
    space_id_ = processor_.PieceToId(std::string(space_symbol));
  }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    const auto plain = library_text(text);
    if (has_symbol(plain)) return without_first_space(encode_whole(plain));
    if (!words_) return encode_whole(plain);
    return words_->encode(plain, [this](std::string_view word) { return encode_whole(word); });
  }

  std::vector<std::int32_t> sample(std::string_view text, double amount,
                                   Random& random) const override {
    sentencepiece::random::GetRandomGenerator()->seed(
        static_cast<std::mt19937::result_type>(random.next() >> 32));
    std::vector<std::int32_t> ids;
    constexpr int from_all_segmentations = -1;  // not from the n best
    check_status(processor_.SampleEncode(library_text(text), from_all_segmentations,
                                         static_cast<float>(amount), &ids));
    return without_first_space(std::move(ids));
  }

  std::string decode(std::span<const std::int32_t> ids) const override {
    std::vector<int> pieces;
    for (const std::int32_t id : ids) {
      if (id >= special_count || id == unk_id) pieces.push_back(id);
    }
    std::string text;
    check_status(processor_.Decode(pieces, &text));
    return without_literal_symbols(text);
  }

  std::vector<std::string> pieces(std::string_view text,
                                  std::span<const std::int32_t> ids) const override {
    if (std::ranges::count(ids, unk_id) == 0) return Tokenizer::pieces(text, ids);
    std::vector<std::string> pieces;  // with the text of unknown characters
    check_status(processor_.Encode(library_text(text), &pieces));
    const bool is_longer = pieces.size() == ids.size() + 1;
    if (is_longer && pieces.front() == space_symbol) pieces.erase(pieces.begin());
    // The caller needs one text for each id.
    return pieces.size() == ids.size() ? pieces : Tokenizer::pieces(text, ids);
  }

  std::string token(std::int32_t id) const override { return processor_.IdToPiece(id); }
  std::string join(const std::vector<std::string>& tokens) const override {
    std::string text;
    for (std::string_view rest : tokens) {
      for (std::size_t at; (at = rest.find(space_symbol)) != rest.npos;) {
        text.append(rest.substr(0, at)).push_back(' ');
        rest.remove_prefix(at + space_symbol.size());
      }
      text += rest;
    }
    return without_literal_symbols(text.starts_with(' ') ? text.substr(1) : text);
  }
  std::int64_t size() const override { return processor_.GetPieceSize(); }
  std::string serialized() const override { return bytes_; }

 private:
  bool has_symbol(std::string_view text) const {
    return std::ranges::any_of(symbols_, [&](const std::string& symbol) {
      return text.find(symbol) != std::string_view::npos;
    });
  }
  // Removes the piece for a space before a symbol at the start of a line.
  std::vector<std::int32_t> without_first_space(std::vector<std::int32_t> ids) const {
    const bool starts_with_symbol =
        ids.size() > 1 && ids[0] == space_id_ && std::ranges::count(symbol_ids_, ids[1]) > 0;
    if (starts_with_symbol) ids.erase(ids.begin());
    return ids;
  }
  std::vector<std::int32_t> encode_whole(std::string_view plain) const {
    std::vector<std::int32_t> ids;
    check_status(processor_.Encode(plain, &ids));
    return ids;
  }

  void check_special_ids(const std::string& name) const {
    const auto& p = processor_;
    if (p.pad_id() == pad_id && p.unk_id() == unk_id && p.bos_id() == bos_id &&
        p.eos_id() == eos_id) {
      return;
    }
    throw InputError(
        "{}: found the special ids <pad> {}, <unk> {}, <s> {}, </s> {} (-1: none), expected 0, 1, "
        "2, 3; train it with --pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3",
        name, p.pad_id(), p.unk_id(), p.bos_id(), p.eos_id());
  }

  std::string bytes_;
  std::vector<std::string> symbols_;  // data.tokenizer.user_symbols
  std::vector<std::int32_t> symbol_ids_;
  std::int32_t space_id_ = unk_id;  // of the space symbol
  sentencepiece::SentencePieceProcessor processor_;
  std::unique_ptr<WordCache> words_;  // null if the tokenizer does not encode word by word
};

constexpr std::size_t max_line_to_learn = 4192;  // SentencePiece's default; it skips longer lines

// Returns the length of the beginning of a line that SentencePiece can learn from: up to the last
// space that fits, else the last character.
std::size_t length_to_learn(std::string_view line) {
  if (line.size() <= max_line_to_learn) return line.size();
  const auto space = line.rfind(' ', max_line_to_learn);
  if (space != std::string_view::npos && space > 0) return space;
  auto length = max_line_to_learn;
  while (!begins_code_point(line, length)) --length;
  return length;
}

// True if SentencePiece can learn from a line. It skips lines that contain NUL or U+2585, which it
// reserves. If no line is left, unigram training terminates the process.
bool is_trainable(std::string_view line) {
  constexpr std::string_view reserved = "\u2585";
  std::string_view rest = line;
  while (rest.starts_with(' ') || rest.starts_with(space_symbol)) {
    rest.remove_prefix(rest.front() == ' ' ? 1 : space_symbol.size());
  }
  return !rest.empty() && line.find('\0') == std::string_view::npos &&
         line.find(reserved) == std::string_view::npos;
}

// Adapts the lines to the trainer's interface. Stores an exception of `next_line` in `failure` and
// ends the lines, so that no exception passes through the library.
class TrainingLines : public sentencepiece::SentenceIterator {
 public:
  explicit TrainingLines(const LineSource& next_line) : next_line_(next_line) { Next(); }

  bool done() const override { return done_; }
  void Next() override {
    try {
      do {
        if (rest_.empty()) {
          done_ = !next_line_(rest_);
          if (!done_) rest_ = with_plain_spaces(rest_);
        }
        const auto length = length_to_learn(rest_);
        line_ = rest_.substr(0, length);
        rest_.erase(0, length);
      } while (!done_ && !is_trainable(line_));
    } catch (...) {
      failure = std::current_exception();
      done_ = true;
    }
  }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }

  std::exception_ptr failure;

 private:
  const LineSource& next_line_;
  std::string line_;
  std::string rest_;  // of a long line
  bool done_ = false;
};

// The number of SentencePiece's threads. It is fixed because the trained model depends on it.
constexpr int trainer_threads = 4;

// Restricts the calling thread, and the threads that it starts, to a number of cores during its
// lifetime.
class CoreLimit {
 public:
  // 0 means no limit. Has no effect if the system cannot report or set the cores of a thread.
  explicit CoreLimit(std::int64_t cores) {
    if (cores <= 0 || sched_getaffinity(0, sizeof previous_, &previous_) != 0) return;
    if (cores >= CPU_COUNT(&previous_)) return;
    cpu_set_t some;
    CPU_ZERO(&some);
    // Starts at the current core, so that several limited processes do not share the first cores.
    auto core = std::max(0, sched_getcpu());
    for (; CPU_COUNT(&some) < cores; core = (core + 1) % CPU_SETSIZE) {
      if (CPU_ISSET(core, &previous_)) CPU_SET(core, &some);
    }
    limited_ = sched_setaffinity(0, sizeof some, &some) == 0;
  }
  ~CoreLimit() {
    if (limited_) sched_setaffinity(0, sizeof previous_, &previous_);
  }
  CoreLimit(const CoreLimit&) = delete;
  CoreLimit& operator=(const CoreLimit&) = delete;

 private:
  cpu_set_t previous_{};
  bool limited_ = false;
};

// With a soft limit, a text that is too small for vocab_size results in a smaller model, not in an
// error. train_sentencepiece() then reports that size as the largest possible.
std::unordered_map<std::string, std::string> trainer_settings(const TokenizerOptions& options) {
  return {{"model_type", options.kind == TokenizerKind::bpe ? "bpe" : "unigram"},
          {"vocab_size", std::to_string(options.vocabulary_size)},
          {"hard_vocab_limit", "false"},
          {"character_coverage", fmt::format("{}", options.character_coverage)},
          {"normalization_rule_name", "identity"},
          {"pad_id", std::to_string(pad_id)},
          {"unk_id", std::to_string(unk_id)},
          {"bos_id", std::to_string(bos_id)},
          {"eos_id", std::to_string(eos_id)},
          {"unk_surface", std::string(special_name(unk_id))},
          {"input_sentence_size", "2000000"},
          {"num_threads", std::to_string(trainer_threads)},
          {"minloglevel", "3"}};
}

// Throws ConfigError. If the library's message says that the characters alone exceed the
// vocabulary, takes their number from it.
[[noreturn]] void throw_training_error(const std::string& message,
                                       const TokenizerOptions& options) {
  const std::string_view versus = " vs ";
  const std::size_t at = message.find(versus);
  if (message.find("required_chars") == std::string::npos || at == std::string::npos) {
    throw ConfigError("SentencePiece cannot be trained on this text: {}", message);
  }
  const auto needed = std::strtoll(message.c_str() + at + versus.size(), nullptr, 10);
  if (options.extend_by > 0) {
    const auto initial_size = options.vocabulary_size - options.extend_by;
    throw ConfigError(
        "data.tokenizer.extend_by is {}, and the initial model has {}, but the characters of the "
        "training text and the four special tokens alone are {}; raise extend_by to {} or more, or "
        "lower data.tokenizer.character_coverage",
        options.extend_by, counted(initial_size, "entry"), needed, needed - initial_size);
  }
  throw ConfigError(
      "data.tokenizer.vocabulary_size is {}, but the characters of the training text and the four "
      "special tokens alone are {}; raise it, or lower data.tokenizer.character_coverage",
      options.vocabulary_size, needed);
}

// Returns the bytes of a model trained on these lines.
std::string train_model(const TokenizerOptions& options, TrainingLines& lines,
                        std::int64_t threads) {
  const CoreLimit limit(threads);
  std::string bytes;
  try {
    const auto status =
        sentencepiece::SentencePieceTrainer::Train(trainer_settings(options), &lines, &bytes);
    if (lines.failure) std::rethrow_exception(lines.failure);
    if (!status.ok()) throw_training_error(status.ToString(), options);
  } catch (const std::system_error& error) {
    throw EnvironmentError(
        "data.tokenizer: SentencePiece's {} threads could not be started ({}); allow more "
        "processes (ulimit -u), or give a trained model as src_file and trg_file",
        trainer_threads, error.code().message());
  }
  return bytes;
}

std::string train_bytes(const TokenizerOptions& options, const LineSource& next_line,
                        std::int64_t threads) {
  // For new threads, and for this thread, whose generator may exist already.
  sentencepiece::SetRandomGeneratorSeed(1);
  sentencepiece::random::GetRandomGenerator()->seed(1);
  TrainingLines lines(next_line);
  if (lines.failure) std::rethrow_exception(lines.failure);
  if (lines.done()) throw InputError("found no text to make a vocabulary from");
  return train_model(options, lines, threads);
}

}  // namespace

std::unique_ptr<Tokenizer> train_sentencepiece(const TokenizerOptions& options,
                                               const LineSource& next_line, std::int64_t threads) {
  const auto bytes = train_bytes(options, next_line, threads);
  const SentencePieceTokenizer learnt(bytes, {}, "the trained model");
  if (learnt.size() < options.vocabulary_size) {
    throw ConfigError(
        "data.tokenizer.vocabulary_size is {}, but this training text allows no more than {}; "
        "lower it",
        options.vocabulary_size, counted(learnt.size(), "entry"));
  }
  return std::make_unique<SentencePieceTokenizer>(bytes, options.user_symbols, "the trained model");
}

std::unique_ptr<Tokenizer> load_sentencepiece(const TokenizerOptions& options,
                                              std::string_view bytes, const std::string& name) {
  return std::make_unique<SentencePieceTokenizer>(bytes, options.user_symbols, name);
}

std::string extend_sentencepiece(const TokenizerOptions& options, const std::string& bytes,
                                 const LineSource& next_line, std::int64_t threads) {
  // Most pieces of a large vocabulary of a new language are new; those of the same language are
  // not.
  auto larger = options;
  larger.vocabulary_size =
      options.extend_by + load_sentencepiece(options, bytes, "the initial model")->size();
  return with_pieces_of(bytes, train_bytes(larger, next_line, threads),
                        static_cast<std::size_t>(options.extend_by));
}

}  // namespace regard
