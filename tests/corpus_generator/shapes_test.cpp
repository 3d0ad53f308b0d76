#include "corpus_generator/shapes.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <set>
#include <string>

#include "data/png_file.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::corpus::shapes_test {
namespace {

using enum ShapeKind;
using enum Colour;
using enum ShapeSize;

TEST(Shapes, AnImageThatIsWrittenIsReadAgain) {
  const ScratchFolder folder;
  Image image{5, 3};
  for (int i = 0; i < 45; ++i) image.rgb.push_back(static_cast<std::uint8_t>(i * 37));
  EXPECT_EQ(read_png(folder.write("x.png", encode_png(image))), image);
}

TEST(Shapes, CaptionsSayNumberSizeColourShapeAndRelation) {
  const Scene scene{{circle, red, medium, 1}, Relation::left, ShapeGroup{square, blue, small, 2}};
  EXPECT_EQ(english(scene), "a red circle left of two small blue squares");
  EXPECT_EQ(french(scene), "un cercle rouge à gauche de deux petits carrés bleus");
  const Scene alone{{cross, black, large, 3}};
  EXPECT_EQ(english(alone), "three large black crosses");
  EXPECT_EQ(french(alone), "trois grandes croix noires");
}

TEST(Shapes, FrenchAgreesInGenderAndNumberAndElides) {
  const auto caption = [](const ShapeGroup& first, Relation relation, const ShapeGroup& second) {
    return french({first, relation, second});
  };
  EXPECT_EQ(caption({square, green, large, 1}, Relation::right, {cross, green, small, 1}),
            "un grand carré vert à droite d'une petite croix verte");
  EXPECT_EQ(caption({triangle, black, small, 2}, Relation::above, {cross, yellow, medium, 2}),
            "deux petits triangles noirs au-dessus de deux croix jaunes");
  EXPECT_EQ(caption({cross, red, medium, 3}, Relation::below, {cross, blue, large, 1}),
            "trois croix rouges au-dessous d'une grande croix bleue");
}

TEST(Shapes, ASceneHasOneCaptionOnly) {
  Random random(1);
  std::set<Relation> relations;
  int alone = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto scene = random_scene(random);
    EXPECT_GE(scene.first.count, 1);
    EXPECT_LE(scene.first.count, 3);
    if (!scene.second) {
      ++alone;
      continue;
    }
    relations.insert(scene.relation);
    EXPECT_LT(std::pair(scene.first.kind, scene.first.colour),
              std::pair(scene.second->kind, scene.second->colour));
  }
  EXPECT_EQ(relations.size(), 4U);
  EXPECT_NEAR(alone, 250, 60);
}

TEST(Shapes, EveryCaptionIsInOneSetAndEverySetHasBothKindsOfScenes) {
  Random random(2);
  std::array<int, 3> scenes{}, alone{};
  for (int i = 0; i < 20'000; ++i) {
    const auto scene = random_scene(random);
    ++scenes[static_cast<std::size_t>(set_of(scene))];
    if (!scene.second) ++alone[static_cast<std::size_t>(set_of(scene))];
  }
  const std::array<int, 3> expected = {2000, 1000, 17'000};  // test, dev, train
  for (std::size_t set = 0; set < 3; ++set) {
    EXPECT_NEAR(scenes[set], expected[set], expected[set] / 6) << set;
    EXPECT_NEAR(alone[set], expected[set] / 8, expected[set] / 16) << set;
    EXPECT_EQ(set_of(random_scene(static_cast<SceneSet>(set), random)), static_cast<SceneSet>(set));
  }
}

// The middle of the pixels that are nearest to a colour.
struct Middle {
  double x = 0, y = 0;
  int pixels = 0;
};

Middle middle_of(const Image& image, const std::array<int, 3>& colour) {
  Middle middle;
  for (std::int64_t i = 0; i < image.width * image.height; ++i) {
    double distance = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      distance += std::pow(image.rgb[static_cast<std::size_t>(3 * i) + c] - colour[c], 2);
    }
    if (distance > 50 * 50) continue;
    middle.x += static_cast<double>(i % image.width);
    middle.y += static_cast<double>(i / image.width);
    ++middle.pixels;
  }
  middle.x /= middle.pixels;
  middle.y /= middle.pixels;
  return middle;
}

TEST(Shapes, TheImageShowsTheSceneOfItsCaption) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const auto relation = static_cast<Relation>(i % 4);
    const Scene scene{
        {circle, red, small, 1 + i % 3}, relation, ShapeGroup{square, blue, large, 1}};
    const auto image = draw(scene, random);
    ASSERT_EQ(image.rgb.size(), 3U * scene_pixels * scene_pixels);
    const auto red_middle = middle_of(image, {220, 40, 40});
    const auto blue_middle = middle_of(image, {50, 80, 220});
    const double dx = blue_middle.x - red_middle.x;
    const double dy = blue_middle.y - red_middle.y;
    const std::array<double, 4> distances = {dx, -dx, dy, -dy};  // in the order of Relation
    EXPECT_GT(distances[static_cast<std::size_t>(relation)], 8) << i;
    // A small circle has about 28 pixels, a large square about 127.
    EXPECT_NEAR(red_middle.pixels, 22 * scene.first.count, 11 * scene.first.count) << i;
    EXPECT_NEAR(blue_middle.pixels, 120, 30) << i;
  }
}

TEST(Shapes, TheLargestSceneHasRoomInEveryRelation) {
  Random random(4);
  for (int i = 0; i < 20; ++i) {
    draw(
        {{circle, red, large, 3}, static_cast<Relation>(i % 4), ShapeGroup{square, blue, large, 3}},
        random);
  }
}

TEST(Shapes, TheSameSeedDrawsTheSameImages) {
  Random one(5), other(5);
  for (int i = 0; i < 20; ++i) {
    const auto scene = random_scene(one);
    EXPECT_EQ(random_scene(other), scene);
    EXPECT_EQ(draw(scene, one), draw(scene, other));
  }
}

}  // namespace
}  // namespace regard::corpus::shapes_test
