// Which SentencePiece models encode a line word by word, and that the tokenizer then returns
// exactly the ids that the library returns for whole lines.
#include "text/sentencepiece_model.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <fstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "tests/text/sentencepiece_lines.h"

namespace regard::sentencepiece_model_test {
namespace {

using Settings = std::unordered_map<std::string, std::string>;

// Trains a model with the tokenizer's own settings, except for `changed`.
std::string model(const Settings& changed = {}) {
  Settings settings = {{"model_type", "bpe"},
                       {"vocab_size", "60"},
                       {"hard_vocab_limit", "false"},
                       {"normalization_rule_name", "identity"},
                       {"pad_id", "0"},
                       {"unk_id", "1"},
                       {"bos_id", "2"},
                       {"eos_id", "3"},
                       {"minloglevel", "3"}};
  for (const auto& [key, value] : changed) settings[key] = value;
  SentencePieceLines lines;
  std::string bytes;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &lines, &bytes);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return bytes;
}

TEST(WordByWord, HoldsForOurBpeModels) {
  TokenizerOptions options;
  options.vocabulary_size = 60;
  EXPECT_TRUE(
      encodes_word_by_word(train_tokenizer(options, lines_of(syllables(100)))->serialized()));
  EXPECT_TRUE(encodes_word_by_word(model()));
  options.kind = TokenizerKind::unigram;
  EXPECT_FALSE(
      encodes_word_by_word(train_tokenizer(options, lines_of(syllables(100)))->serialized()));
}

TEST(WordByWord, DoesNotHoldForOtherModels) {
  for (const auto& [key, value] : Settings{{"model_type", "char"},
                                           {"normalization_rule_name", "nmt_nfkc"},
                                           {"add_dummy_prefix", "false"},
                                           {"remove_extra_whitespaces", "false"},
                                           {"treat_whitespace_as_suffix", "true"},
                                           {"split_by_whitespace", "false"},
                                           {"user_defined_symbols", "ba do"},
                                           {"byte_fallback", "true"}}) {
    Settings changed{{key, value}};
    if (key == "byte_fallback") changed["vocab_size"] = "300";
    EXPECT_FALSE(encodes_word_by_word(model(changed))) << key;
  }
}

// Among them is the piece whose field has 128 bytes, the first with a length of two bytes.
TEST(LongUserSymbols, ArePiecesOfTheModel) {
  for (std::size_t length = 100; length < 140; ++length) {
    const std::vector<std::string> symbols = {std::string(length, 'x')};
    const auto bytes = with_user_symbols(model(), symbols);
    sentencepiece::SentencePieceProcessor library;
    ASSERT_TRUE(library.LoadFromSerializedProto(bytes).ok()) << length;
    EXPECT_EQ(library.IdToPiece(library.GetPieceSize() - 1), symbols[0]);
  }
}

// Returns the offset of the root of the trie of rules; the size of the trie stands before it.
std::size_t offset_of_root(const std::string& model) {
  return model.find("nmt_nfkc") + std::string_view("nmt_nfkc").size() + 1 + 3 + 4;
}

TEST(NormalizationRules, OfTheLibraryAreInBounds) {
  EXPECT_TRUE(normalization_rules_in_bounds(""));
  EXPECT_TRUE(normalization_rules_in_bounds(model()));
  for (const auto* name : {"nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"}) {
    EXPECT_TRUE(normalization_rules_in_bounds(model({{"normalization_rule_name", name}}))) << name;
  }
}

TEST(NormalizationRules, OutOfBoundsAreRejected) {
  const auto sound = model({{"normalization_rule_name", "nmt_nfkc"}});
  EXPECT_NO_THROW(load_tokenizer({}, sound, "model"));
  const auto root = offset_of_root(sound);
  for (const std::uint32_t unit : {0xFFFFFFFFu, 0x7FFFFFFFu, 0x7FFFFC00u, 0xFFFFFE00u}) {
    auto bad = sound;
    for (std::size_t i = 0; i < 4; ++i) bad[root + i] = static_cast<char>(unit >> 8 * i);
    EXPECT_FALSE(normalization_rules_in_bounds(bad)) << unit;
    EXPECT_THROW(load_tokenizer({}, bad, "model"), InputError) << unit;
  }
  auto larger = sound;
  larger[root - 1] = '\x7F';  // the trie's size
  EXPECT_FALSE(normalization_rules_in_bounds(larger));
}

// Lets one unit after the other point out of bounds: none is skipped.
TEST(NormalizationRules, EveryUnitIsChecked) {
  const auto sound = model({{"normalization_rule_name", "nmt_nfkc"}});
  const auto root = offset_of_root(sound);
  for (std::size_t i = 0; i < 40'000; i += 97) {
    auto bad = sound;
    for (std::size_t byte = 0; byte < 4; ++byte) {
      bad[root + 4 * i + byte] = static_cast<char>(0x7FFFFE00u >> 8 * byte);
    }
    EXPECT_FALSE(normalization_rules_in_bounds(bad)) << i;
  }
}

TEST(WordByWord, DoesNotHoldForOtherBytes) {
  const auto whole = model();
  EXPECT_FALSE(encodes_word_by_word(""));
  EXPECT_FALSE(encodes_word_by_word("\xFF\xFF\xFF"));
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const auto cut = whole.substr(0, size);
    sentencepiece::SentencePieceProcessor processor;
    if (!processor.LoadFromSerializedProto(cut).ok()) {
      EXPECT_FALSE(encodes_word_by_word(cut)) << size;
    }
  }
}

class SameAsWholeLines : public testing::Test {
 protected:
  void use(const std::string& bytes) {
    ASSERT_TRUE(encodes_word_by_word(bytes));
    ASSERT_TRUE(library_.LoadFromSerializedProto(bytes).ok());
    tokenizer_ = load_tokenizer({}, bytes, "model");
  }
  void expect_same(const std::string& line) {
    const auto ids = library_.EncodeAsIds(with_literal_symbols(line));
    EXPECT_EQ(tokenizer_->encode(line), ids) << testing::PrintToString(line);
    EXPECT_EQ(tokenizer_->encode(line), ids) << testing::PrintToString(line) << ", cached";
  }

  sentencepiece::SentencePieceProcessor library_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

std::vector<std::string> lines_in(const std::string& name) {
  std::ifstream file(REGARD_SOURCE_DIR "/data/" + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST_F(SameAsWholeLines, OnTheBundledCorpus) {
  for (const std::string language : {"en", "fr"}) {
    const auto train = lines_in("train." + language);
    ASSERT_GT(train.size(), 1000u);
    TokenizerOptions options;
    options.vocabulary_size = 500;
    use(train_tokenizer(options, lines_of(train))->serialized());
    for (const std::string name : {"train.", "dev.", "test.", "test_long."}) {
      for (const auto& line : lines_in(name + language)) expect_same(line);
    }
  }
}

TEST_F(SameAsWholeLines, OnOddStrings) {
  use(model());
  for (const std::string line : {"",
                                 " ",
                                 "   ",
                                 "bado",
                                 " bado",
                                 "bado ",
                                 "bado  kiti",
                                 "\u2581",
                                 "\u2581 \u2581",
                                 "bado\u2581 kiti",
                                 "bado \u2581kiti",
                                 "bado\u2581kiti",
                                 "\u2581bado",
                                 "bado \u2581",
                                 "漢 漢",
                                 "漢漢 漢",
                                 "ba漢 漢do",
                                 "漢 bado 漢",
                                 "bado\u00A0kiti",
                                 "bado\u3000 kiti",
                                 "bado\u200B kiti",
                                 "e \u0301e",
                                 "🙂 🙂🙂 \U0001F468\u200D\U0001F469",
                                 "<unk> <s> </s> <pad>",
                                 "\uFEFFbado kiti",
                                 "שלום bado",
                                 "\xFF bado \xE2\x96 kiti"}) {
    expect_same(line);
  }
  expect_same(std::string("ba\0do \0 kiti", 12));
  expect_same(std::string(5000, 'b') + " " + std::string(40, 'a'));
}

TEST_F(SameAsWholeLines, OnRandomStrings) {
  use(model());
  const std::vector<std::string> parts = {" ",       " ",  "ba",     "do",     "ki", "l",   "é",
                                          "e\u0301", "mu", "n",      "a",      "r",  "sto", "t",
                                          "i",       "漢", "\u2581", "\u00A0", "."};
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string line;
    // Every fourth line may contain the symbol for a space.
    for (auto left = random.below(30); left > 0; --left) {
      const auto& part = parts[random.below(parts.size())];
      if (part != "\u2581" || i % 4 == 0) line += part;
    }
    expect_same(line);
  }
}

TEST_F(SameAsWholeLines, FromSeveralThreads) {
  use(model());
  const auto lines = syllables(300);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (const auto& line : lines)
        count += tokenizer_->encode(line) != library_.EncodeAsIds(line);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

// Orders of JoeyNMT's models, of SentencePiece's defaults, and with other names.
const std::vector<Settings> other_orders = {
    {{"unk_id", "0"}, {"pad_id", "1"}, {"bos_id", "2"}, {"eos_id", "3"}},
    {{"unk_id", "0"}, {"bos_id", "1"}, {"eos_id", "2"}, {"pad_id", "-1"}},
    {{"unk_id", "2"}, {"pad_id", "7"}, {"bos_id", "-1"}, {"eos_id", "0"}, {"unk_piece", "<?>"}}};

TEST(SpecialPieces, AreMovedToTheFrontAndEveryTextKeepsItsPieces) {
  for (const auto* type : {"bpe", "unigram"}) {
    for (auto settings : other_orders) {
      settings["model_type"] = type;
      const auto given = model(settings);
      EXPECT_THROW(load_tokenizer({}, given, "model"), InputError);
      const auto tokenizer = load_tokenizer({}, with_special_pieces_first(given), "model");
      sentencepiece::SentencePieceProcessor library;
      ASSERT_TRUE(library.LoadFromSerializedProto(given).ok());
      for (const auto& line : syllables(50)) {
        std::vector<std::string> pieces;
        ASSERT_TRUE(library.Encode(line, &pieces).ok());
        EXPECT_EQ(tokenizer->pieces(line), pieces);
        EXPECT_EQ(tokenizer->decode(tokenizer->encode(line)), line);
      }
      EXPECT_EQ(with_special_pieces_first(tokenizer->serialized()), tokenizer->serialized());
    }
  }
}

// The length of a field takes a second byte from 128 on.
TEST(SpecialPieces, NamesOfAnyLengthAreKept) {
  for (std::size_t size = 110; size <= 130; ++size) {
    auto settings = other_orders[0];
    settings["unk_piece"] = "<" + std::string(size - 2, 'u') + ">";
    const auto given = with_special_pieces_first(model(settings));
    sentencepiece::SentencePieceProcessor library;
    ASSERT_TRUE(library.LoadFromSerializedProto(given).ok()) << size;
    EXPECT_EQ(library.IdToPiece(library.unk_id()), settings["unk_piece"]);
  }
}

TEST(SpecialPieces, InOrderLeaveTheBytesUnchanged) {
  const auto given = model();
  EXPECT_EQ(with_special_pieces_first(given), given);
}

TEST(SpecialPieces, OtherBytesAreUnchanged) {
  const auto given = model(other_orders[0]);
  for (const auto& bytes : {std::string(), std::string("the\ncat\n"), given.substr(0, 100),
                            given + '\x07', given + given}) {
    EXPECT_EQ(with_special_pieces_first(bytes), bytes);
  }
}

}  // namespace
}  // namespace regard::sentencepiece_model_test
