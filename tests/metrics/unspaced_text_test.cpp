#include "metrics/unspaced_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regard {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> chinese{"我们昨天在北京看了一场电影。",
                                       "他 2019 年搬到了上海，住在河边。"};
const std::vector<std::string> japanese{"私たちは昨日、東京で映画を見ました。",
                                        "ＡＢＣを買いました。"};
const std::vector<std::string> thai{"เมื่อวานเราดูหนังที่กรุงเทพ"};

MetricOptions with_tokenizer(BleuTokenizer tokenizer) {
  MetricOptions options;
  options.bleu.tokenizer = tokenizer;
  return options;
}

TEST(UnspacedText, IsDetectedByItsLetters) {
  EXPECT_EQ(unspaced_script(chinese), UnspacedScript::chinese);
  EXPECT_EQ(unspaced_script(japanese), UnspacedScript::japanese);
  EXPECT_EQ(unspaced_script(thai), UnspacedScript::south_east_asian);
}

TEST(UnspacedText, SegmentedTextIsNot) {
  EXPECT_EQ(unspaced_script({"They are watching.", "Über 3 Kilometer", "שלום עולם"}), std::nullopt);
  EXPECT_EQ(unspaced_script({"나는 어제 영화를 보았다."}), std::nullopt) << "Korean has spaces";
  EXPECT_EQ(unspaced_script({"我们 昨天 在 北京 看 了 一 场 电影 。"}), std::nullopt);
  EXPECT_EQ(unspaced_script({"私 たち は 昨日 映画 を 見 まし た 。"}), std::nullopt);
  EXPECT_EQ(unspaced_script({"The name 北京 means northern capital."}), std::nullopt);
  EXPECT_EQ(unspaced_script({"", "12 + 3"}), std::nullopt);
  EXPECT_EQ(unspaced_script({}), std::nullopt);
}

TEST(UnspacedText, WarnsOfATokenizerThatDoesNotSplitTheScript) {
  const auto bleu = [](const std::vector<std::string>& lines, BleuTokenizer tokenizer) {
    return unspaced_text_warnings("ref", lines, {"bleu", "chrf"}, with_tokenizer(tokenizer));
  };
  for (const auto tokenizer :
       {BleuTokenizer::mteval_13a, BleuTokenizer::intl, BleuTokenizer::none}) {
    EXPECT_THAT(bleu(chinese, tokenizer),
                ElementsAre(AllOf(HasSubstr("ref: found Chinese"), HasSubstr(name_of(tokenizer)),
                                  HasSubstr("use --tokenize zh, or char"))));
    EXPECT_THAT(bleu(japanese, tokenizer),
                ElementsAre(AllOf(HasSubstr("found Japanese"), HasSubstr("use --tokenize char"))));
  }
  EXPECT_THAT(bleu(chinese, BleuTokenizer::chinese), IsEmpty());
  EXPECT_THAT(bleu(chinese, BleuTokenizer::character), IsEmpty());
  EXPECT_THAT(bleu(japanese, BleuTokenizer::chinese),
              ElementsAre(HasSubstr("--tokenize zh treats")))
      << "kana are no Chinese characters";
  EXPECT_THAT(bleu(japanese, BleuTokenizer::character), IsEmpty());
  EXPECT_THAT(bleu(thai, BleuTokenizer::mteval_13a), ElementsAre(HasSubstr("Thai")));
}

TEST(UnspacedText, TerNeedsItsOptionsAndChrfNone) {
  EXPECT_THAT(unspaced_text_warnings("ref", chinese, {"chrf"}, {}), IsEmpty());
  EXPECT_THAT(unspaced_text_warnings("ref", chinese, {"ter"}, {}),
              ElementsAre(HasSubstr("use --ter-normalized --ter-asian-support")));
  MetricOptions options;
  options.ter.asian_support = true;
  EXPECT_THAT(unspaced_text_warnings("ref", chinese, {"ter"}, options), testing::SizeIs(1));
  options.ter.normalized = true;
  EXPECT_THAT(unspaced_text_warnings("ref", chinese, {"ter"}, options), IsEmpty());
}

}  // namespace
}  // namespace regard
