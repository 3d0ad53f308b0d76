#include "base/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string_view>

#include "tests/config/message.h"

namespace regard::choice_test {
namespace {

enum class Tree { oak, plane_tree };
constexpr std::array<std::string_view, 2> enum_names(Tree) {
  return {"oak", "plane-tree"};
}

TEST(Choice, NamesAreInTheOrderOfTheValues) {
  EXPECT_EQ(enum_name(Tree::plane_tree), "plane-tree");
  EXPECT_THAT(choice_names<Tree>(), testing::ElementsAre("oak", "plane-tree"));
}

TEST(Choice, IsFoundByItsExactName) {
  EXPECT_EQ(find_choice<Tree>("plane-tree"), Tree::plane_tree);
  EXPECT_EQ(find_choice<Tree>("Oak"), std::nullopt);
  EXPECT_EQ(choice_named<Tree>("--tree", "oak"), Tree::oak);
}

TEST(Choice, AnotherNameIsAnErrorWithAllNamesAndTheNearest) {
  EXPECT_EQ(config_error([] { choice_named<Tree>("--tree", "oka"); }),
            "--tree: found `oka`, expected one of oak, plane-tree; did you mean `oak`?");
}

}  // namespace
}  // namespace regard::choice_test
