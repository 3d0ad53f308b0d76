#include "shapes.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace regard::corpus {
namespace {

template <typename Enum>
std::size_t index(Enum value) {
  return static_cast<std::size_t>(value);
}

struct Noun {
  std::string_view english, english_plural, french, french_plural;
  bool is_feminine;
};

// In the order of ShapeKind.
constexpr std::array<Noun, 4> nouns = {{{"circle", "circles", "cercle", "cercles", false},
                                        {"square", "squares", "carré", "carrés", false},
                                        {"triangle", "triangles", "triangle", "triangles", false},
                                        {"cross", "crosses", "croix", "croix", true}}};

struct Adjective {
  std::string_view english, masculine, feminine;  // French in the singular; the plural adds an s
};

// In the order of Colour and of ShapeSize.
constexpr std::array<Adjective, 5> colours = {{{"red", "rouge", "rouge"},
                                               {"green", "vert", "verte"},
                                               {"blue", "bleu", "bleue"},
                                               {"yellow", "jaune", "jaune"},
                                               {"black", "noir", "noire"}}};
constexpr std::array<Adjective, 3> sizes = {
    {{"small", "petit", "petite"}, {"", "", ""}, {"large", "grand", "grande"}}};

// In the order of Relation.
constexpr std::array<std::string_view, 4> english_relations = {"left of", "right of", "above",
                                                               "below"};
constexpr std::array<std::string_view, 4> french_relations = {"à gauche", "à droite", "au-dessus",
                                                              "au-dessous"};

std::string english(const ShapeGroup& group) {
  constexpr std::array<std::string_view, 3> numbers = {"a", "two", "three"};
  const auto& noun = nouns[index(group.kind)];
  const auto& size = sizes[index(group.size)].english;
  return fmt::format("{}{}{} {} {}", numbers.at(static_cast<std::size_t>(group.count) - 1),
                     size.empty() ? "" : " ", size, colours[index(group.colour)].english,
                     group.count == 1 ? noun.english : noun.english_plural);
}

std::string french(const ShapeGroup& group) {
  const auto& noun = nouns[index(group.kind)];
  const bool is_plural = group.count > 1;
  const std::array<std::string_view, 3> numbers = {noun.is_feminine ? "une" : "un", "deux",
                                                   "trois"};
  const auto agree = [&](const Adjective& adjective) {
    const auto form = noun.is_feminine ? adjective.feminine : adjective.masculine;
    return std::string(form) + (is_plural && !form.empty() ? "s" : "");
  };
  const auto size = agree(sizes[index(group.size)]);
  return fmt::format("{}{}{} {} {}", numbers.at(static_cast<std::size_t>(group.count) - 1),
                     size.empty() ? "" : " ", size, is_plural ? noun.french_plural : noun.french,
                     agree(colours[index(group.colour)]));
}

// Returns "de deux carrés", "d'un carré".
std::string french_complement(const ShapeGroup& group) {
  return (group.count == 1 ? "d'" : "de ") + french(group);
}

ShapeGroup random_group(Random& random) {
  return {static_cast<ShapeKind>(random.below(nouns.size())),
          static_cast<Colour>(random.below(colours.size())),
          static_cast<ShapeSize>(random.below(sizes.size())),
          static_cast<int>(random.below(3)) + 1};
}

// A shape that is placed: its centre, and half of the side of its square, in pixels.
struct Placed {
  const ShapeGroup* group;
  double x, y, radius;
};

struct Region {
  double left, right, top, bottom;
};

double uniform(double low, double high, Random& random) {
  return low + (high - low) * random.uniform();
}

double radius_of(ShapeSize size) {
  constexpr std::array<double, 3> radii = {3.0, 4.5, 6.25};
  return radii[index(size)];
}

constexpr double radius_spread = 0.25;
constexpr double margin = 1;       // to the edges
constexpr double least_gap = 1.5;  // between two shapes
constexpr double group_gap = 3;

// Places a group inside a region. Returns false if there was no room.
bool place(const ShapeGroup& group, const Region& region, Random& random,
           std::vector<Placed>& placed) {
  for (int i = 0; i < group.count; ++i) {
    const double radius = radius_of(group.size) + uniform(-radius_spread, radius_spread, random);
    const double width = region.right - region.left - 2 * radius;
    const double height = region.bottom - region.top - 2 * radius;
    if (width < 0 || height < 0) return false;
    bool found = false;
    for (int tries = 0; tries < 20 && !found; ++tries) {
      const Placed shape{&group, region.left + radius + uniform(0, width, random),
                         region.top + radius + uniform(0, height, random), radius};
      found = std::ranges::none_of(placed, [&](const Placed& other) {
        const double least = radius + other.radius + least_gap;
        return std::abs(shape.x - other.x) < least && std::abs(shape.y - other.y) < least;
      });
      if (found) placed.push_back(shape);
    }
    if (!found) return false;
  }
  return true;
}

// Returns the smallest and the largest coordinate of a group.
std::pair<double, double> extent(const std::vector<Placed>& placed, const ShapeGroup& group,
                                 double Placed::*coordinate) {
  double low = scene_pixels;
  double high = 0;
  for (const auto& shape : placed) {
    if (shape.group != &group) continue;
    low = std::min(low, shape.*coordinate - shape.radius);
    high = std::max(high, shape.*coordinate + shape.radius);
  }
  return {low, high};
}

// Returns nothing if these places have no room for the scene.
std::vector<Placed> try_to_place(const Scene& scene, Random& random) {
  const double end = scene_pixels - margin;
  std::vector<Placed> placed;
  Region whole{margin, end, margin, end};
  if (!scene.second) {
    return place(scene.first, whole, random, placed) ? placed : std::vector<Placed>();
  }
  const bool is_horizontal = scene.relation == Relation::left || scene.relation == Relation::right;
  const bool first_is_low = scene.relation == Relation::left || scene.relation == Relation::above;
  const double split = uniform(margin + 6, end - 6, random);
  auto low = whole;
  auto high = whole;
  (is_horizontal ? low.right : low.bottom) = split - group_gap / 2;
  (is_horizontal ? high.left : high.top) = split + group_gap / 2;
  if (!place(scene.first, first_is_low ? low : high, random, placed) ||
      !place(*scene.second, first_is_low ? high : low, random, placed)) {
    return {};
  }
  const auto across = is_horizontal ? &Placed::y : &Placed::x;
  const auto [first_low, first_high] = extent(placed, scene.first, across);
  const auto [second_low, second_high] = extent(placed, *scene.second, across);
  const bool overlaps = first_low < second_high - 1 && second_low < first_high - 1;
  return overlaps ? placed : std::vector<Placed>();
}

// Returns true if the point, in units of the radius from the centre, is inside.
bool contains(ShapeKind kind, double x, double y) {
  switch (kind) {
    case ShapeKind::circle:
      return x * x + y * y <= 1;
    case ShapeKind::square:
      return std::max(std::abs(x), std::abs(y)) <= 0.9;
    case ShapeKind::triangle:
      return y <= 0.9 && 1.9 * std::abs(x) <= y + 1;
    case ShapeKind::cross:
      return std::min(std::abs(x), std::abs(y)) <= 0.35;
  }
  return false;
}

using Rgb = std::array<double, 3>;

// Adds a small random number to each component.
Rgb vary(Rgb colour, double spread, Random& random) {
  for (auto& component : colour) {
    component = std::clamp(component + uniform(-spread, spread, random), 0.0, 255.0);
  }
  return colour;
}

Rgb colour_of(Colour colour) {
  constexpr std::array<Rgb, 5> colours_rgb = {
      {{220, 40, 40}, {40, 160, 60}, {50, 80, 220}, {235, 200, 40}, {30, 30, 30}}};
  return colours_rgb[index(colour)];
}

// Paints a shape over the pixels, in proportion to the parts of a pixel that it covers.
void paint(const Placed& shape, const Rgb& colour, std::vector<Rgb>& pixels) {
  constexpr int parts = 4;  // in each direction
  const auto begin = [](double low) {
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(low) - 1);
  };
  const auto end = [](double high) {
    return std::min<std::int64_t>(scene_pixels, static_cast<std::int64_t>(high) + 2);
  };
  const double r = shape.radius;
  for (auto row = begin(shape.y - r); row < end(shape.y + r); ++row) {
    for (auto column = begin(shape.x - r); column < end(shape.x + r); ++column) {
      int inside = 0;
      for (int i = 0; i < parts * parts; ++i) {
        const double x = static_cast<double>(column) + (i % parts + 0.5) / parts - shape.x;
        const double y = static_cast<double>(row) + (i / parts + 0.5) / parts - shape.y;
        if (std::max(std::abs(x), std::abs(y)) > r) continue;
        inside += contains(shape.group->kind, x / r, y / r) ? 1 : 0;
      }
      auto& pixel = pixels[static_cast<std::size_t>(row * scene_pixels + column)];
      const double covered = static_cast<double>(inside) / (parts * parts);
      for (std::size_t c = 0; c < 3; ++c) pixel[c] += covered * (colour[c] - pixel[c]);
    }
  }
}

}  // namespace

Scene random_scene(Random& random) {
  Scene scene{random_group(random)};
  if (random.below(8) == 0) return scene;
  const auto identity = [](const ShapeGroup& g) { return std::pair(g.kind, g.colour); };
  do scene.second = random_group(random);
  while (identity(*scene.second) == identity(scene.first));
  if (identity(*scene.second) < identity(scene.first)) std::swap(scene.first, *scene.second);
  scene.relation = static_cast<Relation>(random.below(english_relations.size()));
  return scene;
}

std::string english(const Scene& scene) {
  const auto first = english(scene.first);
  if (!scene.second) return first;
  return fmt::format("{} {} {}", first, english_relations[index(scene.relation)],
                     english(*scene.second));
}

std::string french(const Scene& scene) {
  const auto first = french(scene.first);
  if (!scene.second) return first;
  return fmt::format("{} {} {}", first, french_relations[index(scene.relation)],
                     french_complement(*scene.second));
}

SceneSet set_of(const Scene& scene) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : english(scene)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  const auto part = (hash ^ hash >> 32U) % 20;
  return part < 2 ? SceneSet::test : part == 2 ? SceneSet::dev : SceneSet::train;
}

Scene random_scene(SceneSet set, Random& random) {
  while (true) {
    const auto scene = random_scene(random);
    if (set_of(scene) == set) return scene;
  }
}

Image draw(const Scene& scene, Random& random) {
  std::vector<Placed> placed;
  for (int tries = 0; placed.empty(); ++tries) {
    if (tries == 1'000'000) {
      throw std::logic_error("there is no room for " + english(scene));
    }
    placed = try_to_place(scene, random);
  }
  const double background = uniform(235, 255, random);
  std::vector<Rgb> pixels(scene_pixels * scene_pixels, Rgb{background, background, background});
  for (const auto& shape : placed) {
    paint(shape, vary(colour_of(shape.group->colour), 20, random), pixels);
  }
  Image image{scene_pixels, scene_pixels};
  for (const auto& pixel : pixels) {
    for (const double component : pixel) {
      image.rgb.push_back(static_cast<std::uint8_t>(std::lround(component)));
    }
  }
  return image;
}

std::string encode_png(const Image& image) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&png, bytes.data(), &size, /*convert_to_8_bit=*/0, image.rgb.data(),
                                /*row_stride=*/0, /*colormap=*/nullptr) == 0) {
    throw std::runtime_error(fmt::format("libpng: {}", png.message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace regard::corpus
