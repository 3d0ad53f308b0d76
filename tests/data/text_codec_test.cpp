// Trains SentencePiece in a process that also loads LibTorch: both libraries export
// FLAGS_minloglevel and then share one of the two objects.
#include "data/text_codec.h"

#include <gmock/gmock.h>
#include <torch/types.h>

#include "base/error.h"
#include "base/file.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/data/small_corpus.h"
#include "tests/text/lines.h"
#include "text/vocabulary.h"

namespace regard::text_codec_test {
namespace {

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

class TextCodecTest : public testing::Test {
 protected:
  TextCodecTest() {
    const auto lines = syllables(100);
    options_.train = {{folder_.write("a.src", text_of(lines)), folder_.write("a.trg", "x y\n"), 1},
                      {folder_.write("b.src", "q q q\n"), folder_.write("b.trg", "z z z\n"), 1},
                      {"missing", "missing", 0}};
    options_.tokenizer.kind = TokenizerKind::word;
  }

  ScratchFolder folder_;
  DataOptions options_;
};

TEST_F(TextCodecTest, SentencePieceWorksWithTorchLoaded) {
  options_.tokenizer.kind = TokenizerKind::bpe;
  options_.tokenizer.joint = true;
  options_.tokenizer.vocabulary_size = 60;
  const auto before = torch::ones({2, 2}).sum().item<float>();
  const TextCodec both = make_text_codec(options_);
  EXPECT_EQ(both.source->size(), 60);
  EXPECT_EQ(both.source->decode(both.source->encode("badoki")), "badoki");
  EXPECT_EQ(torch::ones({2, 2}).sum().item<float>(), before);
  EXPECT_THROW(torch::ones({2}).view({3}), c10::Error);
}

TEST_F(TextCodecTest, CopiesSubWordsAndTheirUnknownCharacters) {
  options_.tokenizer.kind = TokenizerKind::bpe;
  options_.tokenizer.joint = true;
  options_.tokenizer.vocabulary_size = 60;
  auto codec = make_text_codec(options_);
  codec.output = OutputKind::copy;
  const auto line = codec.encode_source("badoki ßad");
  ASSERT_EQ(line.oov_words.size(), 1U);
  EXPECT_EQ(line.extended_ids.size(), line.tokens.size() + 1);
  EXPECT_EQ(codec.decode(codec.encode_target("ßad ki", line), line.oov_words), "ßad ki");
}

TEST_F(TextCodecTest, EachSideIsTrainedOnAllItsCorpora) {
  const TextCodec both = make_text_codec(options_);
  EXPECT_EQ(both.target->serialized(), "<pad>\n<unk>\n<s>\n</s>\nz\nx\ny\n");
  EXPECT_EQ(both.source->decode(both.source->encode("q z")), "q <unk>");
}

TEST_F(TextCodecTest, JointSidesShareOneTokenizer) {
  options_.tokenizer.joint = true;
  const TextCodec both = make_text_codec(options_);
  EXPECT_EQ(both.source, both.target);
  EXPECT_EQ(both.source->decode(both.source->encode("q z")), "q z");
}

TEST_F(TextCodecTest, FilesReplaceTraining) {
  options_.tokenizer.src_file = folder_.write("words", "z\n");
  const TextCodec apart = make_text_codec(options_);
  EXPECT_EQ(apart.source->size(), 5);
  EXPECT_EQ(apart.target->size(), 7);
  options_.tokenizer.joint = true;
  EXPECT_EQ(make_text_codec(options_).target->size(), 5);
  options_.tokenizer.trg_file = folder_.write("others", "y\n");
  EXPECT_THROW(make_text_codec(options_), ConfigError);
}

TEST_F(TextCodecTest, BrokenTrainingTextIsAnInputErrorInEveryKind) {
  folder_.write("a.src", "fine\nbad \xFF\n");
  for (const auto kind : {TokenizerKind::bpe, TokenizerKind::unigram, TokenizerKind::word}) {
    options_.tokenizer.kind = kind;
    EXPECT_THAT([&] { make_text_codec(options_); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("a.src:2: byte 5")));
  }
}

using testing::ElementsAre;

// TextCodec of words for copying. The source vocabulary is larger than the target's.
TextCodec copying_codec(bool lowercase = false) {
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  options.lowercase = lowercase;
  return {load_tokenizer(options, "the\nof\npaul\n", "source"),
          load_tokenizer(options, "le\nde\nof\n", "target"), OutputKind::copy};
}

TEST(CopyingTextCodec, NumberOovWordsInOrderOfAppearance) {
  const auto line = copying_codec().encode_source("zed of paul zed the");
  EXPECT_THAT(line.tokens, ElementsAre(1, 5, 6, 1, 4));
  EXPECT_THAT(line.extended_ids, ElementsAre(7, 6, 8, 7, 9, eos_id));
  EXPECT_THAT(line.oov_words, ElementsAre("zed", "paul", "the"));
}

TEST(CopyingTextCodec, EncodeOovWordsOfTheSourceInTheTarget) {
  const auto codec = copying_codec();
  const auto line = codec.encode_source("zed of paul");
  const auto ids = codec.encode_target("le paul de zed other", line);
  EXPECT_THAT(ids, ElementsAre(4, 8, 5, 7, unk_id));
  EXPECT_EQ(codec.decode(ids, line.oov_words), "le paul de zed <unk>");
  EXPECT_EQ(codec.target_token(8, line.oov_words), "paul");
}

TEST(CopyingTextCodec, LowercaseOovWords) {
  const auto line = copying_codec(true).encode_source("Zed OF zed");
  EXPECT_THAT(line.extended_ids, ElementsAre(7, 6, 7, eos_id));
  EXPECT_THAT(line.oov_words, ElementsAre("zed"));
}

TEST(CopyingTextCodec, SourceAndTargetHaveTheSamePartsOfAWord) {
  TokenizerOptions options;
  options.kind = TokenizerKind::character;
  const std::shared_ptr<const Tokenizer> joint = load_tokenizer(options, "a\nb\n", "joint");
  const TextCodec codec = {joint, joint, OutputKind::copy};
  const auto line = codec.encode_source("bßaß");
  EXPECT_THAT(line.tokens, ElementsAre(5, unk_id, 4, unk_id));
  EXPECT_THAT(line.extended_ids, ElementsAre(5, 6, 4, 6, eos_id));
  const auto ids = codec.encode_target("ßab", line);
  EXPECT_THAT(ids, ElementsAre(6, 4, 5));
  EXPECT_EQ(codec.decode(ids, line.oov_words), "ßab");
}

TEST(PointingTextCodec, RejectAPositionOutsideTheSource) {
  DataOptions data;
  ModelOptions model;
  data.tokenizer.kind = TokenizerKind::word;
  model.encoder.numbers = 1;
  model.output.kind = OutputKind::pointer;
  const auto codec = make_text_codec(data, model);  // no text needed
  const auto line = codec.encode_source("0.5 7");
  EXPECT_THAT(line.numbers, ElementsAre(0.5F, 0, 7, 0, 0, 1));
  EXPECT_THAT(codec.encode_target("1 0", line), ElementsAre(5, 4));
  EXPECT_THROW(codec.encode_target("1 2", line), InputError);
}

}  // namespace
}  // namespace regard::text_codec_test
