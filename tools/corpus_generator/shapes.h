// Images of coloured shapes, and their captions in English and French.
//
// A scene has one or two groups of equal shapes: "three large green crosses", or "a red circle left
// of two small blue squares". So that a scene has one caption only, the first group is the one
// whose shape comes first in ShapeKind, or if the shapes are the same, whose colour comes first in
// Colour; a scene never has two groups of the same shape and colour.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/image.h"
#include "base/random.h"

namespace regard::corpus {

enum class ShapeKind { circle, square, triangle, cross };
enum class Colour { red, green, blue, yellow, black };
enum class ShapeSize { small, medium, large };
enum class Relation { left, right, above, below };

struct ShapeGroup {
  ShapeKind kind;
  Colour colour;
  ShapeSize size;  // a caption does not say `medium`
  int count;       // 1 to 3

  auto operator<=>(const ShapeGroup&) const = default;
};

struct Scene {
  ShapeGroup first;
  Relation relation = Relation::left;  // of the first group to the second
  std::optional<ShapeGroup> second = {};

  bool operator==(const Scene&) const = default;
};

constexpr std::int64_t scene_pixels = 48;  // height and width of an image

// One scene of eight has a single group.
Scene random_scene(Random& random);

// Return the caption: "a red circle left of two small blue squares", "un cercle rouge à gauche de
// deux petits carrés bleus".
std::string english(const Scene& scene);
std::string french(const Scene& scene);

// Draws the scene at random places, with small differences in size and colour. Shapes do not touch.
// The groups are at least 3 pixels apart along the axis of the relation, and overlap along the
// other one, so that no second relation is true.
Image draw(const Scene& scene, Random& random);

// Returns the bytes of a PNG file. The same image has the same bytes with one version of libpng and
// zlib.
std::string encode_png(const Image& image);

// The sets of scenes. Every caption belongs to one of them, by a hash: a tenth of the captions to
// test, a twentieth to dev, and the others to train, also of the captions of a single group, of
// which there are few.
enum class SceneSet { test, dev, train };
SceneSet set_of(const Scene& scene);
// Returns a scene of a set.
Scene random_scene(SceneSet set, Random& random);

}  // namespace regard::corpus
