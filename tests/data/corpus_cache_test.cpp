#include "data/corpus_cache.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "base/error.h"
#include "base/sha256.h"
#include "tests/data/feature_files.h"
#include "tests/data/synthetic_corpus.h"

namespace regard::corpus_cache_test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class CorpusCacheTest : public testing::Test {
 protected:
  CorpusCacheTest() {
    options_.tokenizer.kind = TokenizerKind::word;
    options_.train = {
        {folder_.write("a.src", "a b\n\nc a\n"), folder_.write("a.trg", "x\ny\nz x\n"), 1},
        {folder_.write("b.src", gzipped("b\n")), folder_.write("b.trg", "y y\n"), 2},
        {folder_.write("c.src", "q\n"), folder_.write("c.trg", "q\n"), 0}};
  }

  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const auto& corpus : options_.train) {
      all.push_back(corpus.src);
      all.push_back(corpus.trg);
    }
    return all;
  }
  TextDigests digests() {
    TextDigests all;
    for (const auto& path : paths()) all[path] = digest_of(path);
    return all;
  }
  Corpus fresh() { return training_corpus(options_, make_text_codec(options_, model_)); }
  void write(bool trained = true) {
    CorpusCache::write(path_, options_, model_, fresh(), trained, digests(), pool_);
  }
  // Returns what a start finds in the cache.
  std::optional<Corpus> find() {
    const CorpusCache cache(path_);
    const auto known = cache.digests_of(paths(), pool_);
    if (!known) return std::nullopt;
    return cache.corpus(options_, model_, make_text_codec(options_, model_), *known, pool_);
  }
  bool finds_tokenizers() {
    const CorpusCache cache(path_);
    const auto known = cache.digests_of(paths(), pool_);
    return known && cache.codec(options_, model_, *known, pool_);
  }
  void expect_hit() {
    const auto found = find();
    ASSERT_TRUE(found);
    const auto expected = fresh();
    EXPECT_TRUE(found->pairs() == expected.pairs());
    EXPECT_EQ(found->has_text(), expected.has_text());
    EXPECT_EQ(found->part_ends(), expected.part_ends());
    for (std::int64_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found->weight(i), expected.weight(i));
      EXPECT_EQ(found->source_locations({{i}}), expected.source_locations({{i}}));
    }
  }

  TestFolder folder_;
  std::string path_ = folder_.path("corpus.cache");
  DataOptions options_;
  ModelOptions model_;
  ThreadPool pool_{2};
};

TEST_F(CorpusCacheTest, ReturnsTheCorpusThatWasWritten) {
  EXPECT_FALSE(find());
  write();
  expect_hit();
  const auto cached = CorpusCache(path_).digests_of(paths(), pool_);
  ASSERT_TRUE(cached);
  for (const auto& [path, digest] : *cached) {
    EXPECT_EQ(digest.lines, digests()[path].lines);
    EXPECT_EQ(digest.sha256, digests()[path].sha256);
  }
}

TEST_F(CorpusCacheTest, KeepsTextNumbersAndExtendedIds) {
  options_.tokenizer.sampling = 0.5;
  write();
  expect_hit();
  model_.output.kind = OutputKind::copy;
  options_.tokenizer.min_frequency = 2;  // so that there are words to copy
  write();
  expect_hit();
  ASSERT_FALSE(find()->pair(0).extended_ids.empty());
  options_.tokenizer.min_frequency = 1;
  model_.encoder.numbers = 1;
  model_.output.kind = OutputKind::pointer;
  options_.train = {{folder_.write("n.src", "0.5 2\n1\n"), folder_.write("n.trg", "1 0\n0\n"), 1}};
  write();
  expect_hit();
  ASSERT_FALSE(find()->pair(0).numbers.empty());
}

TEST_F(CorpusCacheTest, ReturnsTheTokenizersOnlyIfTheyWereTrainedOnTheText) {
  for (const auto kind : {TokenizerKind::word, TokenizerKind::bpe}) {
    options_.tokenizer.kind = kind;
    for (const bool joint : {false, true}) {
      options_.tokenizer.joint = joint;
      // At least the characters of the text and the special tokens, and few merges.
      options_.tokenizer.vocabulary_size = kind == TokenizerKind::word ? 100 : joint ? 12 : 9;
      write();
      const auto found = CorpusCache(path_).codec(options_, model_, digests(), pool_);
      const auto expected = make_text_codec(options_, model_);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->source->serialized(), expected.source->serialized());
      EXPECT_EQ(found->target->serialized(), expected.target->serialized());
      EXPECT_EQ(found->source == found->target, joint);
    }
  }
  write(/*trained=*/false);
  EXPECT_FALSE(finds_tokenizers());
  expect_hit();
}

TEST_F(CorpusCacheTest, AFileOfTheSameSizeAndTimeWithOtherTextIsNoticed) {
  write();
  const auto path = options_.train[0].trg;
  const auto time = fs::last_write_time(path);
  folder_.write("a.trg", "x\nx\nz y\n");
  fs::last_write_time(path, time);
  EXPECT_FALSE(CorpusCache(path_).digests_of(paths(), pool_));
  EXPECT_FALSE(find());
  write();
  expect_hit();
}

TEST_F(CorpusCacheTest, PathsDoNotMatter) {
  write();
  fs::rename(options_.train[0].src, folder_.path("moved"));
  options_.train[0].src = folder_.path("moved");
  expect_hit();
  EXPECT_THAT(find()->source_locations({{0}}), testing::HasSubstr("moved:1"));
}

TEST_F(CorpusCacheTest, RemovalOfDuplicatesIsAnotherCorpus) {
  options_.train[0] = {folder_.write("a.src", "a b\na b\nc a\n"),
                       folder_.write("a.trg", "x\nx\nz x\n"), 1};
  write();
  expect_hit();
  options_.remove_duplicates = true;
  EXPECT_FALSE(find());
  write();
  expect_hit();
  EXPECT_EQ(find()->report().duplicates, 1);
  options_.temperature = 2;  // decides the weights, not the pairs
  expect_hit();
}

TEST_F(CorpusCacheTest, OtherOptionsAreAMiss) {
  const auto before = options_;
  const auto model_before = model_;
  const std::vector<std::function<void()>> changes = {
      [&] { options_.max_length = 2; },
      [&] { options_.max_ratio = 2; },
      [&] { options_.tokenizer.lowercase = true; },
      [&] { options_.tokenizer.kind = TokenizerKind::character; },
      [&] { options_.tokenizer.joint = true; },
      [&] { options_.tokenizer.sampling = 0.1; },
      [&] { options_.tokenizer.min_frequency = 2; },
      [&] { options_.train[1].weight = 0; },
      [&] { options_.train[2].weight = 1; },
      [&] { std::swap(options_.train[0], options_.train[1]); },
      [&] { options_.train.pop_back(); },
      [&] { model_.output.kind = OutputKind::copy; },
  };
  write();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    options_ = before;
    model_ = model_before;
    expect_hit();
    changes[i]();
    EXPECT_FALSE(find()) << "change " << i;
  }
  options_ = before;
  options_.train[0].weight = 3;  // does not change the pairs
  options_.tokenizer.vocabulary_size = 50;
  model_ = model_before;
  expect_hit();
  EXPECT_FALSE(finds_tokenizers());
}

TEST_F(CorpusCacheTest, AnyChangedByteIsNoticed) {
  write();
  const auto intact = bytes_of(path_);
  const auto corpus = fresh();
  ASSERT_TRUE(finds_tokenizers());
  int misses = 0;
  for (std::size_t at = 0; at < intact.size(); ++at) {
    auto damaged = intact;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    folder_.write("corpus.cache", damaged);
    const auto found = find();
    misses += !found;
    if (found) {
      EXPECT_TRUE(found->pairs() == corpus.pairs()) << "byte " << at;  // padding or a tokenizer
    }
    if (found && !finds_tokenizers()) ++misses;
  }
  // All but the padding between the arrays is verified.
  EXPECT_GT(misses, static_cast<int>(intact.size()) / 3);
  for (std::size_t size = 0; size < intact.size(); size += 7) {
    folder_.write("corpus.cache", intact.substr(0, size));
    const auto found = find();
    if (found) {
      EXPECT_TRUE(found->pairs() == corpus.pairs());
      EXPECT_GT(size + 64, intact.size());
    }
  }
  folder_.write("corpus.cache", intact);
  expect_hit();
}

// A header with a valid hash, which an attacker can compute, must not lead outside the vocabulary.
TEST_F(CorpusCacheTest, IdsOutsideTheVocabularyAreRejected) {
  write();
  auto bytes = bytes_of(path_);
  const auto corpus = fresh();
  const auto& ids = corpus.pairs().source.items();
  const std::string old(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof ids[0]);
  auto outside = ids;
  outside.back() = 1000;
  const std::string changed(reinterpret_cast<const char*>(outside.data()), old.size());
  const auto replace = [&](const std::string& before, const std::string& after) {
    const auto at = bytes.find(before);
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, before.size(), after);
  };
  replace(old, changed);
  replace(sha256(old), sha256(changed));
  const auto header_at = bytes.find('{');
  const auto digits = bytes.find('\n') + 1;
  const auto length = std::stoul(bytes.substr(digits + 64, 16), nullptr, 16);
  bytes.replace(digits, 64, sha256(bytes.substr(header_at, length)));
  folder_.write("corpus.cache", bytes);
  EXPECT_TRUE(CorpusCache(path_).digests_of(paths(), pool_));  // the header is intact
  EXPECT_FALSE(find());
}

TEST_F(CorpusCacheTest, ListsThatDoNotFitTheModelAreRejected) {
  const auto expect_rejected = [&](const std::function<void(CorpusPairs&)>& change) {
    const auto corpus = fresh();
    auto pairs = corpus.pairs();
    change(pairs);
    CorpusCache::write(
        path_, options_, model_,
        Corpus::training(options_, corpus.codec(), std::move(pairs), corpus.part_ends()),
        /*trained=*/true, digests(), pool_);
    EXPECT_TRUE(CorpusCache(path_).digests_of(paths(), pool_));  // the file is intact
    EXPECT_FALSE(find());
  };
  expect_rejected([](CorpusPairs& pairs) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      pairs.extended_ids.add(std::vector<std::int32_t>(pairs.source[i].size() + 1));
    }
  });
  model_.output.kind = OutputKind::copy;
  expect_rejected([](CorpusPairs& pairs) { pairs.extended_ids = {}; });
  model_.output.kind = OutputKind::pointer;
  model_.encoder.numbers = 1;
  options_.train = {{folder_.write("n.src", "0.5 2\n1\n"), folder_.write("n.trg", "1 0\n0\n"), 1}};
  expect_rejected([](CorpusPairs& pairs) { pairs.numbers = {}; });
  expect_rejected([](CorpusPairs& pairs) {
    pairs.numbers = {pairs.numbers.items(), {2, pairs.numbers.items().size()}};
  });
}

TEST_F(CorpusCacheTest, ImagesOfAnotherHeightAreAMiss) {
  options_.source = SourceKind::features;
  options_.train = {{folder_.write("x.safetensors", feature_bytes({2, {{1, 2, 3, 4}}})),
                     folder_.write("x.trg", "x\n")}};
  model_.encoder.kind = EncoderKind::convolutional;
  model_.encoder.numbers = 2;
  model_.encoder.image_channels = 1;
  model_.encoder.image_height = 2;
  write();
  expect_hit();
  model_.encoder.image_height = 4;
  EXPECT_FALSE(find());
}

TEST_F(CorpusCacheTest, AFailedWriteIsAnErrorAndLeavesTheOldFile) {
  write();
  const auto before = bytes_of(path_);
  path_ = folder_.path("no/such/folder/corpus.cache");
  EXPECT_THROW(write(), EnvironmentError);
  EXPECT_FALSE(find());
  path_ = folder_.path("folder");
  fs::create_directories(path_);
  EXPECT_THROW(write(), EnvironmentError);
  EXPECT_FALSE(find());
  EXPECT_EQ(bytes_of(folder_.path("corpus.cache")), before);
}

}  // namespace
}  // namespace regard::corpus_cache_test
