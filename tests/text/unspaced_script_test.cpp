#include "text/unspaced_script.h"

#include <gtest/gtest.h>

namespace regard::unspaced_script_test {
namespace {

TEST(UnspacedScriptTest, IsDetectedByItsLetters) {
  EXPECT_EQ(unspaced_script({"我们昨天在北京看了一场电影。", "他 2019 年搬到了上海，住在河边。"}),
            UnspacedScript::chinese);
  EXPECT_EQ(unspaced_script({"私たちは昨日、東京で映画を見ました。", "ＡＢＣを買いました。"}),
            UnspacedScript::japanese);
  EXPECT_EQ(unspaced_script({"เมื่อวานเราดูหนังที่กรุงเทพ"}), UnspacedScript::south_east_asian);
}

TEST(UnspacedScriptTest, SegmentedTextIsNot) {
  EXPECT_EQ(unspaced_script({"They are watching.", "Über 3 Kilometer", "שלום עולם"}), std::nullopt);
  EXPECT_EQ(unspaced_script({"나는 어제 영화를 보았다."}), std::nullopt) << "Korean has spaces";
  EXPECT_EQ(unspaced_script({"我们 昨天 在 北京 看 了 一 场 电影 。"}), std::nullopt);
  EXPECT_EQ(unspaced_script({"私 たち は 昨日 映画 を 見 まし た 。"}), std::nullopt);
  EXPECT_EQ(unspaced_script({"The name 北京 means northern capital."}), std::nullopt);
  EXPECT_EQ(unspaced_script({"", "12 + 3"}), std::nullopt);
  EXPECT_EQ(unspaced_script({}), std::nullopt);
}

TEST(UnspacedScriptTest, ChineseAndJapaneseSentencesHaveNoSpaceBetweenThem) {
  EXPECT_EQ(space_between("大猫。", "小狗。"), "");
  EXPECT_EQ(space_between("我用Python。", "Python很好。"), "");
  EXPECT_EQ(space_between("我用Python.", "很好。"), "");
  EXPECT_EQ(space_between("猫です。", "かわいい！"), "");
  EXPECT_EQ(space_between("A cat.", "A dog."), " ");
  EXPECT_EQ(space_between("แมวตัวใหญ่", "หมาตัวเล็ก"), " ");
  EXPECT_EQ(space_between("大 猫 。", "小 狗 。"), " ") << "segmented";
  EXPECT_EQ(space_between("", "x"), "");
}

}  // namespace
}  // namespace regard::unspaced_script_test
