#include "data/prepared_corpus.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "data/batch.h"
#include "data/corpus.h"
#include "data/prepare_corpus.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/data/gzipped.h"
#include "tests/data/synthetic_corpus.h"

namespace regard::prepared_corpus_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// The bytes of every file of a prepared folder, by name.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files[entry.path().filename()] = bytes_of(entry.path());
  }
  return files;
}

// Lines of 1 to 20 words, in several blocks, so that there are several shards.
std::string random_lines(int count, std::uint64_t seed) {
  Random random(seed);
  std::string text;
  for (int i = 0; i < count; ++i) {
    const auto length = 1 + random.below(20);
    for (std::uint64_t k = 0; k < length; ++k) {
      if (k > 0) text += ' ';
      text += static_cast<char>('a' + random.below(6));
    }
    text += '\n';
  }
  return text;
}

class PreparedCorpusTest : public testing::Test {
 protected:
  PreparedCorpusTest() {
    options_.data.tokenizer.kind = TokenizerKind::word;
    options_.data.max_ratio = 3;
  }
  // Uses a corpus of 15,000 pairs, one of 2,000 with weight 2, and one that is left out.
  void use_large_corpora() {
    options_.data.train = {{folder_.write("a.src", random_lines(15000, 1)),
                            folder_.write("a.trg", random_lines(15000, 2)), 1},
                           {folder_.write("c.src", "q\n"), folder_.write("c.trg", "q\n"), 0},
                           {folder_.write("b.src", gzipped(random_lines(2000, 3))),
                            folder_.write("b.trg", random_lines(2000, 4)), 2}};
  }
  void use_corpus(const std::string& source, const std::string& target) {
    options_.data.train = {{folder_.write("a.src", source), folder_.write("a.trg", target), 1}};
  }
  PrepareResult prepare(const std::string& name = "prepared", std::size_t threads = 2) {
    ThreadPool pool(threads);
    return prepare_corpus(options_, folder_.path(name), pool, {.lines = 4000});
  }
  std::shared_ptr<const PreparedCorpus> open(const std::string& name = "prepared") {
    return std::make_shared<const PreparedCorpus>(folder_.path(name));
  }
  Corpus load() { return Corpus::training(options_, open()); }
  Corpus plain() {
    return training_corpus(options_.data, make_text_codec(options_.data, options_.model));
  }
  // Compares every batch of neighbours, and everything else that training reads.
  void expect_same_as_plain() {
    const auto expected = plain();
    const auto found = load();
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_TRUE(found.report() == expected.report());
    EXPECT_EQ(found.has_text(), expected.has_text());
    for (std::int64_t begin = 0; begin < expected.size(); begin += 100) {
      std::vector<std::int64_t> pairs(
          static_cast<std::size_t>(std::min<std::int64_t>(100, expected.size() - begin)));
      std::iota(pairs.begin(), pairs.end(), begin);
      const auto a = make_batch(found, pairs);
      const auto b = make_batch(expected, pairs);
      ASSERT_TRUE(a.source.elements().equal(b.source.elements()) && a.target.equal(b.target) &&
                  a.indices == b.indices);
      ASSERT_EQ(found.source_locations(pairs), expected.source_locations(pairs));
      for (const auto i : pairs) {
        ASSERT_EQ(found.source_length(i), expected.source_length(i));
        ASSERT_EQ(found.target_length(i), expected.target_length(i));
        ASSERT_EQ(found.weight(i), expected.weight(i));
        if (!expected.has_text()) continue;
        ASSERT_EQ(found.pair(i).source_text, expected.pair(i).source_text);
        ASSERT_EQ(found.pair(i).target_text, expected.pair(i).target_text);
      }
    }
    EXPECT_EQ(found.codec().source->serialized(), expected.codec().source->serialized());
    EXPECT_EQ(found.codec().target->serialized(), expected.codec().target->serialized());
  }
  // Changes a byte of a file in the folder.
  void damage(const std::string& file, std::int64_t at) {
    auto bytes = bytes_of(folder_.path("prepared/" + file));
    auto& byte = bytes[static_cast<std::size_t>(at < 0 ? std::ssize(bytes) + at : at)];
    byte = static_cast<char>(byte ^ 0x40);
    folder_.write("prepared/" + file, bytes);
  }
  std::string error_of_open() {
    return message_of<InputError>([&] { open(); });
  }

  ScratchFolder folder_;
  Options options_;
};

TEST_F(PreparedCorpusTest, HasThePairsOfTheText) {
  use_large_corpora();
  const auto result = prepare();
  EXPECT_GE(result.shards, 4U);
  EXPECT_GT(result.all.high_ratio, 0);
  expect_same_as_plain();
}

TEST_F(PreparedCorpusTest, HasEverythingThatAModelReads) {
  use_corpus("a b\n\nunknown a q\n", "x y\ny\nunknown x\n");
  options_.data.tokenizer.min_frequency = 2;
  options_.model.output.kind = OutputKind::copy;
  prepare();
  expect_same_as_plain();
  EXPECT_FALSE(load().pair(0).extended_ids.empty());

  fs::remove_all(folder_.path("prepared"));
  options_ = {};
  options_.data.tokenizer.kind = TokenizerKind::word;
  options_.model.encoder.numbers = 2;
  options_.model.output.kind = OutputKind::pointer;
  options_.data.max_ratio = 0;
  use_corpus("0.5,1 2,3 4,5\n1,1\n", "2 0\n0\n");
  prepare();
  expect_same_as_plain();
  EXPECT_EQ(load().pair(0).numbers.size(), 12U);

  fs::remove_all(folder_.path("prepared"));
  options_ = {};
  options_.data.tokenizer.kind = TokenizerKind::unigram;
  options_.data.tokenizer.vocabulary_size = 12;
  options_.data.tokenizer.joint = true;
  options_.data.tokenizer.sampling = 0.2;
  use_corpus("abc cab\ncc bb é\n", "acb\nbb é\n");
  prepare();
  expect_same_as_plain();
}

TEST_F(PreparedCorpusTest, ItsBytesDoNotDependOnTheThreads) {
  use_large_corpora();
  options_.data.remove_duplicates = true;
  prepare("one", 1);
  prepare("three", 3);
  EXPECT_EQ(contents(folder_.path("one")), contents(folder_.path("three")));
}

TEST_F(PreparedCorpusTest, ReportsWhatEachFilterRemoved) {
  //           kept   empty  long          ratio        duplicates        kept (other target)
  use_corpus(
      "a b\n"
      "\n"
      "a a a a a\n"
      "a a a a\n"
      "a b\n"
      "a b\n"
      "a b\n",
      "x y\n"
      "x\n"
      "y\n"
      "x\n"
      "x y\n"
      "x y\n"
      "x x\n");
  options_.data.max_length = 4;
  options_.data.remove_duplicates = true;
  const auto result = prepare();
  EXPECT_EQ(result.all.read, 7);
  EXPECT_EQ(result.all.empty, 1);
  EXPECT_EQ(result.all.too_long, 1);
  EXPECT_EQ(result.all.high_ratio, 1);
  EXPECT_EQ(result.all.duplicates, 2);
  EXPECT_EQ(result.all.kept, 2);
  EXPECT_EQ(result.all.source.tokens, 4);
  expect_same_as_plain();
}

TEST_F(PreparedCorpusTest, TheFirstOfEqualPairsStaysInAllCorpora) {
  const auto first = folder_.write("a.src", "a b\nc\n");
  const auto first_target = folder_.write("a.trg", "x\ny\n");
  const auto second = folder_.write("b.src", "c\na b\nd\n");
  const auto second_target = folder_.write("b.trg", "y\nx\nx\n");
  options_.data.train = {{first, first_target, 1}, {second, second_target, 2}};
  options_.data.remove_duplicates = true;
  const auto result = prepare();
  EXPECT_EQ(result.corpora[0].duplicates, 0);
  EXPECT_EQ(result.corpora[1].duplicates, 2);
  EXPECT_EQ(result.corpora[1].kept, 1);
  expect_same_as_plain();
}

TEST_F(PreparedCorpusTest, DamageIsAnError) {
  use_large_corpora();
  prepare();
  const auto intact = contents(folder_.path("prepared"));
  const auto restore = [&] {
    for (const auto& [name, bytes] : intact) folder_.write("prepared/" + name, bytes);
  };
  const auto shard = std::string("shard-00001.bin");
  fs::remove(folder_.path("prepared/" + shard));
  EXPECT_THAT(error_of_open(), AllOf(HasSubstr(shard), HasSubstr("cannot be read")));
  restore();
  folder_.write("prepared/" + shard, intact.at(shard).substr(0, 5000));
  EXPECT_THAT(error_of_open(), AllOf(HasSubstr(shard), HasSubstr("found 5000 bytes, expected")));
  folder_.write("prepared/" + shard, "");
  EXPECT_THAT(error_of_open(), AllOf(HasSubstr(shard), HasSubstr("not a shard")));
  restore();
  damage(shard, 8);
  EXPECT_THAT(error_of_open(),
              AllOf(HasSubstr(shard), HasSubstr("version 65"), HasSubstr("expected 1")));
  restore();
  damage(shard, 12);
  EXPECT_THAT(error_of_open(), AllOf(HasSubstr(shard), HasSubstr("damaged header")));
  restore();
  folder_.write("prepared/" + shard, intact.at("shard-00000.bin"));
  EXPECT_THAT(error_of_open(), AllOf(HasSubstr(shard), HasSubstr("pairs in")));
  for (const auto* file : {"source.tokenizer", "target.tokenizer", "config.yaml"}) {
    restore();
    damage(file, -2);
    EXPECT_THAT(error_of_open(), AllOf(HasSubstr(file), HasSubstr("changed since")));
  }
  restore();
  damage(prepared_manifest_name, 400);
  EXPECT_THAT(error_of_open(), AllOf(HasSubstr(prepared_manifest_name), HasSubstr("damaged")));
  restore();
  auto other = intact.at(prepared_manifest_name);
  other.replace(other.find("\"version\": 2"), 12, "\"version\": 3");
  folder_.write(std::string("prepared/") + prepared_manifest_name, other);
  EXPECT_THAT(error_of_open(), AllOf(HasSubstr("version 3"), HasSubstr("expected 2")));
  EXPECT_THAT(message_of<InputError>([&] { PreparedCorpus(folder_.path("none")); }),
              HasSubstr("found no prepared.json"));
}

TEST_F(PreparedCorpusTest, AChangedByteOfAPairIsFoundByVerifyAndByTraining) {
  use_large_corpora();
  prepare();
  ThreadPool pool(2);
  EXPECT_NO_THROW(open()->verify(pool));
  damage("shard-00002.bin", -3);  // of the last id: it is now outside the vocabulary
  const auto corpus = open();
  EXPECT_THAT(message_of<InputError>([&] { corpus->verify(pool); }),
              AllOf(HasSubstr("shard-00002.bin"), HasSubstr("damaged")));
  const auto found = Corpus::training(options_, corpus);
  EXPECT_THAT(message_of<InputError>([&] {
                for (std::int64_t i = 0; i < found.size(); ++i) static_cast<void>(found.pair(i));
              }),
              AllOf(HasSubstr("shard-00002.bin"), HasSubstr("is damaged")));
}

// Every position of the index may have any value.
TEST_F(PreparedCorpusTest, ADamagedIndexIsAnError) {
  use_corpus("a b\nb c\nc\n", "x\ny\nz z\n");
  prepare();
  const auto intact = bytes_of(folder_.path("prepared/shard-00000.bin"));
  for (std::size_t at = 64; at < 64 + 3 * 12; ++at) {
    if (at % 16 >= 12) continue;  // the line
    for (const char value : {'\x01', '\x7f', '\xff'}) {
      auto bytes = intact;
      bytes[at] = static_cast<char>(bytes[at] ^ value);
      folder_.write("prepared/shard-00000.bin", bytes);
      const auto corpus = open();
      for (std::int64_t i = 0; i < corpus->size(); ++i) {
        try {
          for (const auto id : corpus->pair(i).source) {
            EXPECT_LT(id, corpus->codec().source->size());
          }
        } catch (const InputError& error) {
          EXPECT_THAT(error.what(), HasSubstr("damaged"));
        }
      }
    }
  }
}

TEST_F(PreparedCorpusTest, AFolderThatIsNotEmptyIsRefusedAndUnchanged) {
  use_corpus("a b\n", "x\n");
  const auto refusal = [&](const std::string& name) {
    const auto before = contents(folder_.path(name));
    const auto message = message_of<ConfigError>([&] { prepare(name); });
    EXPECT_EQ(contents(folder_.path(name)), before);
    return message;
  };
  for (const std::string file : {"thesis.tex", "shard-mine.bin", "shard-1.bin", "shard-000.bin"}) {
    fs::remove_all(folder_.path("mine"));
    fs::create_directory(folder_.path("mine"));
    folder_.write("mine/" + file, "...");
    const auto found = "found " + file + ", expected an empty folder";
    EXPECT_THAT(refusal("mine"), HasSubstr(found));
    folder_.write("mine/.prepare.unfinished", "");
    folder_.write("mine/shard-00000.bin", "...");
    EXPECT_THAT(refusal("mine"), HasSubstr(found));
  }
  prepare();
  EXPECT_THAT(refusal("prepared"), HasSubstr("expected an empty folder"));
  folder_.write("file", "");
  EXPECT_THAT(message_of<ConfigError>([&] { prepare("file"); }), HasSubstr("found a file"));
}

TEST_F(PreparedCorpusTest, AnEmptyFolderIsUsed) {
  use_corpus("a b\n", "x\n");
  fs::create_directory(folder_.path("prepared"));
  folder_.write("prepared/.prepare.lock", "");  // of a process that was killed before it wrote
  prepare();
  expect_same_as_plain();
}

TEST_F(PreparedCorpusTest, AFolderThatWasNotFinishedIsBegunAnew) {
  use_corpus("a a a a\n", "x\n");  // has no pair within data.max_ratio, found at the end
  EXPECT_THAT(message_of<InputError>([&] { prepare(); }), HasSubstr("no training pair is left"));
  EXPECT_TRUE(contents(folder_.path("prepared")).contains("shard-00000.bin"));
  EXPECT_THAT(error_of_open(), HasSubstr("found no prepared.json"));
  use_corpus("a b\n", "x\n");
  prepare();
  expect_same_as_plain();
  EXPECT_FALSE(contents(folder_.path("prepared")).contains(".prepare.unfinished"));
}

TEST_F(PreparedCorpusTest, TrainingNeedsTheSameOptions) {
  use_large_corpora();
  prepare();
  const auto error = [&] { return message_of<ConfigError>([&] { load(); }); };
  const auto before = options_;
  options_.data.max_ratio = 4;
  EXPECT_THAT(error(),
              AllOf(HasSubstr("data.max_ratio"), HasSubstr("prepared with other options")));
  options_ = before;
  options_.data.tokenizer.joint = true;
  EXPECT_THAT(error(), HasSubstr("data.tokenizer.joint"));
  options_ = before;
  options_.data.train[0].src = "other";
  EXPECT_THAT(error(), AllOf(HasSubstr("data.train.0"), HasSubstr("other")));
  options_ = before;
  options_.data.train.pop_back();
  EXPECT_THAT(error(), HasSubstr("found 2 corpuses, "));
  options_ = before;
  options_.data.train[1].weight = 1;
  EXPECT_THAT(error(), HasSubstr("data.train.1.weight"));
  options_ = before;
  options_.data.tokenizer.kind = TokenizerKind::unigram;
  options_.data.tokenizer.sampling = 0.1;
  EXPECT_THAT(error(), HasSubstr("data.tokenizer.kind"));
  options_ = before;
  options_.data.tokenizer.sampling = 0.1;
  EXPECT_THAT(error(), AllOf(HasSubstr("data.tokenizer.sampling"), HasSubstr("has only tokens")));
}

TEST_F(PreparedCorpusTest, TokenizersNeedTheSameOptionsUnlessTheyAreThoseOfAModel) {
  use_corpus("a b\n", "x y\n");
  prepare();
  const auto before = options_;
  const std::map<std::string, std::function<void(TokenizerOptions&)>> changes = {
      {"vocabulary_size", [](auto& o) { o.vocabulary_size = 99; }},
      {"min_frequency", [](auto& o) { o.min_frequency = 2; }},
      {"character_coverage", [](auto& o) { o.character_coverage = 0.9; }},
      {"user_symbols", [](auto& o) { o.user_symbols = {"<x>"}; }}};
  for (const auto& [key, change] : changes) {
    options_ = before;
    change(options_.data.tokenizer);
    EXPECT_THAT(message_of<ConfigError>(
                    [&] { open()->check_options(options_, /*tokenizer_training=*/true); }),
                HasSubstr("data.tokenizer." + key));
    EXPECT_NO_THROW(load());
  }
}

TEST_F(PreparedCorpusTest, ALastShardWithoutPairsHidesNoText) {
  use_corpus("abc cab\ncc bb é\n", "acb\nbb é\n");
  options_.data.train.push_back(options_.data.train[0]);
  options_.data.remove_duplicates = true;
  options_.data.tokenizer.kind = TokenizerKind::unigram;
  options_.data.tokenizer.vocabulary_size = 12;
  options_.data.tokenizer.joint = true;
  options_.data.tokenizer.sampling = 0.2;
  const auto result = prepare();
  EXPECT_EQ(result.shards, 2U);
  EXPECT_EQ(result.corpora[1].kept, 0);
  EXPECT_TRUE(open()->has_text());
  expect_same_as_plain();
}

TEST_F(PreparedCorpusTest, WeightsAreThoseOfTheConfigurationOrOfPrepare) {
  use_large_corpora();
  prepare();
  options_.data.train[0].weight = 0;
  options_.data.train[2].weight = 3;
  EXPECT_EQ(load().weight(0), 0);
  EXPECT_EQ(load().weight(load().size() - 1), 3);
  options_.data.train.clear();
  EXPECT_EQ(load().weight(0), 1);
  EXPECT_EQ(load().weight(load().size() - 1), 2);
}

TEST_F(PreparedCorpusTest, ItsDigestChangesWithThePairsOnly) {
  use_corpus("a b\n", "x\n");
  prepare();
  const auto before = open()->digest();
  EXPECT_EQ(before.lines, 1);
  fs::rename(folder_.path("prepared"), folder_.path("moved"));
  EXPECT_EQ(open("moved")->digest().sha256, before.sha256);
  use_corpus("a c\n", "x\n");
  prepare();
  EXPECT_NE(open()->digest().sha256, before.sha256);
}

}  // namespace
}  // namespace regard::prepared_corpus_test
