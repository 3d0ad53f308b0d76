#include "text/sentencepiece_tokenizer.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/thread_pool.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/text/lines.h"
#include "tests/text/sentencepiece_lines.h"
#include "text/vocabulary.h"

namespace regard::sentencepiece_tokenizer_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SubwordTokenizer : public testing::TestWithParam<TokenizerKind> {
 protected:
  TokenizerOptions options(std::int64_t size) const {
    TokenizerOptions o;
    o.kind = GetParam();
    o.vocabulary_size = size;
    return o;
  }
  std::unique_ptr<Tokenizer> trained(std::int64_t size = 80) const {
    std::vector<std::string> lines = syllables(200);
    lines.push_back("½ ＡＢ ﬁ e\u0301 🙂 שלום x\u00A0y < / > s u n k p a d");
    return train_tokenizer(options(size), lines_of(std::move(lines)));
  }
  std::string training_error(std::int64_t size, std::vector<std::string> lines) const {
    return message_of<Error>([&] { train_tokenizer(options(size), lines_of(std::move(lines))); });
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, SubwordTokenizer,
                         testing::Values(TokenizerKind::bpe, TokenizerKind::unigram),
                         [](const auto& param) {
                           return param.param == TokenizerKind::bpe ? "bpe" : "unigram";
                         });

TEST_P(SubwordTokenizer, HasTheRequestedSizeAndOurSpecialIds) {
  const auto tokenizer = trained(80);
  EXPECT_EQ(tokenizer->size(), 80);
  for (std::int32_t id = 0; id < special_count; ++id) {
    EXPECT_EQ(tokenizer->token(id), special_name(id));
  }
}

TEST_P(SubwordTokenizer, RoundTripsText) {
  const auto tokenizer = trained();
  for (const std::string text : {"badoki rantimu", "½ ＡＢ ﬁ", "e\u0301 🙂🙂", "שלום s",
                                 "x\u00A0y", "lébado </s> <unk> <s>"}) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

TEST_P(SubwordTokenizer, CollapsesWhiteSpace) {
  const auto tokenizer = trained();
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("  bado \t  kiti\r ")), "bado kiti");
  EXPECT_TRUE(tokenizer->encode(" \t ").empty());
  EXPECT_TRUE(tokenizer->encode("").empty());
}

TEST_P(SubwordTokenizer, SplitsWordsIntoSubWords) {
  const auto tokenizer = trained();
  EXPECT_LT(tokenizer->encode("badoki rantimu").size(), 12u);
}

TEST_P(SubwordTokenizer, UnknownCharactersDecodeToUnk) {
  const auto tokenizer = trained();
  EXPECT_THAT(tokenizer->encode("ba漢do"), Contains(unk_id));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("ba漢do")), "ba<unk>do");
}

TEST_P(SubwordTokenizer, DecodingSkipsSpecialTokens) {
  const auto tokenizer = trained();
  std::vector<std::int32_t> ids = tokenizer->encode("bado kiti");
  ids.insert(ids.begin(), bos_id);
  ids.insert(ids.end(), {eos_id, pad_id, pad_id});
  EXPECT_EQ(tokenizer->decode(ids), "bado kiti");
}

TEST_P(SubwordTokenizer, TrainingIsDeterministic) {
  EXPECT_EQ(trained()->serialized(), trained()->serialized());
}

TEST_P(SubwordTokenizer, TheNumberOfThreadsDoesNotChangeTheVocabulary) {
  const auto with_threads = [&](std::int64_t threads) {
    return train_tokenizer(options(300), lines_of(syllables(3000)), threads)->serialized();
  };
  const auto expected = with_threads(1);
  for (const std::int64_t threads : {2, 5, 0}) {
    EXPECT_EQ(with_threads(threads), expected) << threads << " threads";
  }
}

int cores_of_this_thread() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : -1;
}

TEST_P(SubwordTokenizer, TrainingUsesTheGivenCoresAndRestoresTheOthers) {
  const int all = cores_of_this_thread();
  int fewest = all;
  const auto lines = lines_of(syllables(200));
  const LineSource watched = [&](std::string& line) {  // read while the model is trained
    fewest = std::min(fewest, cores_of_this_thread());
    return lines(line);
  };
  train_tokenizer(options(80), watched, 1);
  EXPECT_EQ(fewest, 1);
  EXPECT_EQ(cores_of_this_thread(), all);
}

// The system limits the threads of a user but not those of root, so root becomes another user.
void train_without_threads(TokenizerOptions options, rlim_t processes) {
  if (geteuid() == 0 && setresuid(54321, 54321, 54321) != 0) _exit(1);
  const rlimit limit{processes, processes};
  if (setrlimit(RLIMIT_NPROC, &limit) != 0) _exit(1);
  try {
    train_tokenizer(options, lines_of(syllables(200)));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s", error.what());
    _exit(static_cast<int>(error.code()));
  }
  _exit(0);
}

TEST_P(SubwordTokenizer, AFailureToStartThreadsIsAnEnvironmentError) {
  // Fewer than needed, however early some threads end.
  const rlim_t processes = geteuid() == 0 ? 1 : 0;
  EXPECT_EXIT(train_without_threads(options(80), processes), testing::ExitedWithCode(6),
              "SentencePiece's 4 threads could not be started");
}

TEST_P(SubwordTokenizer, SurvivesSavingAndLoading) {
  const auto saved = trained();
  const auto loaded = load_tokenizer(options(80), saved->serialized(), "src.model");
  EXPECT_EQ(loaded->serialized(), saved->serialized());
  EXPECT_EQ(loaded->encode("badoki rantimu"), saved->encode("badoki rantimu"));
}

TEST_P(SubwordTokenizer, TrainingWritesNothing) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  trained();
  training_error(100000, syllables(20));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST_P(SubwordTokenizer, TooLargeAVocabularyNamesTheLargestPossible) {
  const std::string message = training_error(100000, syllables(20));
  EXPECT_THAT(message, AllOf(HasSubstr("is 100000"), HasSubstr("no more than ")));
  const std::int64_t largest = std::stoll(message.substr(message.find("than ") + 5));
  EXPECT_EQ(train_tokenizer(options(largest), lines_of(syllables(20)))->size(), largest);
}

TEST_P(SubwordTokenizer, TooSmallAVocabularyNamesTheSmallestPossible) {
  // b a d o k i l é m u r n s t, the space, and four special tokens
  EXPECT_THAT(training_error(10, syllables(20)), AllOf(HasSubstr("is 10,"), HasSubstr("are 19;")));
  EXPECT_EQ(train_tokenizer(options(19), lines_of(syllables(20)))->size(), 19);
}

// The library takes U+2581 for a space.
TEST_P(SubwordTokenizer, TheSpaceSymbolOfATextIsUnknownAndKept) {
  const auto tokenizer = trained();
  for (const std::string text : {"bado\u2581kiti", "\u2581bado", "bado \u2581", "\u2581\u2581"}) {
    const auto ids = tokenizer->encode(text);
    EXPECT_THAT(ids, Contains(unk_id)) << text;
    EXPECT_EQ(tokenizer->join(tokenizer->pieces(text)), text);
    Random random(1);
    EXPECT_THAT(tokenizer->sample(text, 0.1, random), Contains(unk_id)) << text;
  }
  EXPECT_NE(tokenizer->encode("bado\u2581kiti"), tokenizer->encode("bado kiti"));
  EXPECT_THAT(tokenizer->encode("bado kiti"), testing::Not(Contains(unk_id)));
}

TEST_P(SubwordTokenizer, NoTextIsAnInputError) {
  EXPECT_THROW(train_tokenizer(options(80), lines_of({})), InputError);
  EXPECT_THROW(train_tokenizer(options(80), lines_of({"", "  \t", " \u2581"})), InputError);
  const std::vector<std::string> untrainable = {"a\u2585", std::string("a\0b", 3)};
  EXPECT_THROW(train_tokenizer(options(80), lines_of(untrainable)), InputError);
}

TEST_P(SubwordTokenizer, ErrorsOfTheLineSourcePropagate) {
  const LineSource broken = [](std::string&) -> bool { throw InputError("file:7: broken"); };
  EXPECT_THROW(train_tokenizer(options(80), broken), InputError);
}

TEST_P(SubwordTokenizer, LearnsFromTheWholeOfALongLine) {
  std::string all;
  for (const auto& line : syllables(2000)) all += line + " ";
  ASSERT_GT(all.size(), 20000U);
  const auto tokenizer = train_tokenizer(options(60), lines_of({all + "ñandú"}));
  EXPECT_EQ(tokenizer->size(), 60);
  EXPECT_THAT(tokenizer->encode("ñandú"), testing::Each(testing::Ge(special_count)));
  const std::string japanese = "猫です。犬です。";  // no space to split at
  std::string long_line;
  while (long_line.size() < 10000) long_line += japanese;
  const auto other = train_tokenizer(options(11), lines_of({long_line}));
  EXPECT_EQ(other->decode(other->encode(japanese)), japanese);
}

TEST_P(SubwordTokenizer, SkipsALineWithNul) {
  std::vector<std::string> lines = syllables(200);
  lines.push_back(std::string("ba\0do", 5));
  const auto tokenizer = train_tokenizer(options(60), lines_of(std::move(lines)));
  EXPECT_EQ(tokenizer->size(), 60);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(std::string(20000, 'b'))), std::string(20000, 'b'));
}

TEST_P(SubwordTokenizer, SamplesDependOnlyOnTheRandomNumbers) {
  const auto tokenizer = trained();
  const std::string text = "badoki rantimu lébasto";
  Random first(7);
  const auto a = tokenizer->sample(text, 0.3, first);
  const auto b = tokenizer->sample(text, 0.3, first);
  Random again(7);
  EXPECT_EQ(tokenizer->sample(text, 0.3, again), a);
  tokenizer->sample("something else", 0.3, first);
  std::vector<std::int32_t> elsewhere;
  std::thread([&] { elsewhere = tokenizer->sample(text, 0.3, again); }).join();
  EXPECT_EQ(elsewhere, b);
}

TEST_P(SubwordTokenizer, SamplesDifferAndDecodeToTheSameText) {
  const auto tokenizer = trained();
  const std::string text = "badoki rantimu lébasto";
  Random random(7);
  std::set<std::vector<std::int32_t>> seen;
  for (int i = 0; i < 30; ++i) {
    const auto ids = tokenizer->sample(text, 0.3, random);
    EXPECT_EQ(tokenizer->decode(ids), text);
    seen.insert(ids);
  }
  EXPECT_GT(seen.size(), 2u);
}

TEST(SentencePieceFile, OtherBytesAreNoModel) {
  TokenizerOptions options;
  for (const std::string bytes : {"", "the\ncat\n", "\x01\x02\x03", "a"}) {
    EXPECT_THAT(
        [&] { load_tokenizer(options, bytes, "given.model"); },
        testing::ThrowsMessage<InputError>(HasSubstr("given.model: not a SentencePiece model")))
        << testing::PrintToString(bytes);
  }
}

TEST(SentencePieceFile, OtherSpecialIdsAreAnError) {
  SentencePieceLines lines;
  std::string bytes;
  ASSERT_TRUE(
      sentencepiece::SentencePieceTrainer::Train(
          {{"vocab_size", "40"}, {"model_type", "bpe"}, {"minloglevel", "3"}}, &lines, &bytes)
          .ok());
  EXPECT_THAT([&] { load_tokenizer({}, bytes, "given.model"); },
              testing::ThrowsMessage<InputError>(AllOf(
                  HasSubstr("given.model: found the special ids <pad> -1, <unk> 0, <s> 1, </s> 2"),
                  HasSubstr("--pad_id=0"))));
}

// Encodes each word as its length, and records the words it was called for.
struct LengthEncoder {
  std::vector<std::int32_t> operator()(std::string_view word) {
    encoded.emplace_back(word);
    return {static_cast<std::int32_t>(word.size())};
  }
  std::vector<std::int32_t> encode(std::string_view line) {
    return cache.encode(line, std::ref(*this));
  }

  WordCache cache;
  std::vector<std::string> encoded;
};

TEST(WordCache, EncodesEachWordOnceAndKeepsTheOrder) {
  LengthEncoder lengths;
  EXPECT_THAT(lengths.encode("a bcd a ef"), ElementsAre(1, 3, 1, 2));
  EXPECT_THAT(lengths.encode("ef bcd"), ElementsAre(2, 3));
  EXPECT_THAT(lengths.encoded, ElementsAre("a", "bcd", "ef"));
}

TEST(WordCache, SplitsOnlyAtSpaces) {
  LengthEncoder lengths;
  EXPECT_THAT(lengths.encode("  a  b\tc\u00A0d  "), ElementsAre(1, 6));
  EXPECT_THAT(lengths.encode(""), IsEmpty());
  EXPECT_THAT(lengths.encode("   "), IsEmpty());
}

TEST(WordCache, DoesNotStoreLongWords) {
  LengthEncoder lengths;
  const std::string longer(33, 'x');
  EXPECT_THAT(lengths.encode(longer + " " + longer), ElementsAre(33, 33));
  EXPECT_THAT(lengths.encoded, ElementsAre(longer, longer));
}

TEST(WordCache, SeveralThreadsGetTheSameIds) {
  const auto encode_word = [](std::string_view word) {
    return std::vector<std::int32_t>{static_cast<std::int32_t>(std::stoi(std::string(word)))};
  };
  WordCache cache;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const int word = (i * (t + 1)) % 300;
        EXPECT_THAT(cache.encode(fmt::format("{} {}", word, i), encode_word), ElementsAre(word, i));
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(WordCache, StopsGrowing) {
  LengthEncoder lengths;
  for (int i = 0; i < 200001; ++i) lengths.encode(std::to_string(i));
  lengths.encoded.clear();
  lengths.encode("0 199999 200000");
  EXPECT_THAT(lengths.encoded, ElementsAre("200000"));
}

TEST(WordCache, ThreadsShareIt) {
  WordCache cache;
  std::atomic<int> encoded = 0;
  const WordCache::Encode encode = [&](std::string_view word) {
    ++encoded;
    return std::vector<std::int32_t>{static_cast<std::int32_t>(std::stoi(std::string(word)))};
  };
  ThreadPool pool(5);
  constexpr std::int32_t words = 20'000;
  pool.run([&](std::size_t thread) {
    for (std::int32_t i = 0; i < words; ++i) {
      const auto word = (i + static_cast<std::int32_t>(thread)) % words;
      EXPECT_THAT(cache.encode(std::to_string(word), encode), ElementsAre(word));
    }
  });
  const int until_now = encoded;
  EXPECT_GE(until_now, words);
  for (std::int32_t i = 0; i < words; ++i) cache.encode(std::to_string(i), encode);
  EXPECT_EQ(encoded, until_now);  // each is in the cache
}

// The results of other threads must not depend on which words are in the cache.
TEST(SentencePieceTokenizer, ThreadsEncodeTheSame) {
  const auto lines = syllables(2'000);
  for (const auto kind : {TokenizerKind::bpe, TokenizerKind::unigram}) {
    TokenizerOptions options;
    options.kind = kind;
    options.vocabulary_size = 60;
    const auto trained = train_tokenizer(options, lines_of(lines));
    std::vector<std::vector<std::int32_t>> serial;
    for (const auto& line : lines) serial.push_back(trained->encode(line));
    const auto tokenizer = load_tokenizer(options, trained->serialized(), "model");
    std::vector<std::vector<std::int32_t>> parallel(lines.size());
    ThreadPool pool(5);
    parallel_for(pool, lines.size(),
                 [&](std::size_t i) { parallel[i] = tokenizer->encode(lines[i]); });
    EXPECT_EQ(parallel, serial);
  }
}

}  // namespace
}  // namespace regard::sentencepiece_tokenizer_test
