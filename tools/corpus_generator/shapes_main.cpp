// generate_shapes --out DIR [--seed 1] [--train N] [--dev N] [--test N]
//
// Writes DIR/{train,dev,test}/00001.png …, DIR/{train,dev,test}.images, the list of the images, and
// DIR/{train,dev,test}.{en,fr}, their captions. No two images of different sets have the same
// caption. The same options produce the same bytes on every machine with the same libpng and zlib.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "options.h"
#include "shapes.h"

namespace {

using namespace regard;
using namespace regard::corpus;

constexpr std::string_view usage =
    "generate_shapes --out DIR [--seed 1] [--train 20000] [--dev 500] [--test 2000]\n";

struct ShapesOptions {
  std::string out;
  std::uint64_t seed = 1;
  std::size_t train = 20000;
  std::size_t dev = 500;
  std::size_t test = 2000;
};

void write_set(const std::string& out, const std::string& name, std::size_t count, SceneSet set,
               Random& random) {
  const auto folder = std::filesystem::path(out) / name;
  make_folder(folder);
  std::string images;
  std::string captions_en;
  std::string captions_fr;
  for (std::size_t i = 1; i <= count; ++i) {
    const auto scene = random_scene(set, random);
    const auto path = folder / fmt::format("{:05}.png", i);
    if (!(std::ofstream(path, std::ios::binary) << encode_png(draw(scene, random)) << std::flush)) {
      throw EnvironmentError("{}: cannot be written", path.string());
    }
    images += path.string() + "\n";
    captions_en += english(scene) + "\n";
    captions_fr += french(scene) + "\n";
  }
  write_file(folder.string() + ".images", images);
  write_file(folder.string() + ".en", captions_en);
  write_file(folder.string() + ".fr", captions_fr);
}

int run(int argc, char** argv) {
  ShapesOptions options;
  OptionReader reader(argc, argv, usage);
  while (reader.next()) {
    reader.text("--out", options.out);
    reader.number("--seed", options.seed);
    reader.number("--train", options.train);
    reader.number("--dev", options.dev);
    reader.number("--test", options.test);
  }
  if (reader.help_requested()) return 0;
  if (options.out.empty()) throw ConfigError("--out DIR is missing\n{}", usage);
  Random random(options.seed);
  write_set(options.out, "test", options.test, SceneSet::test, random);
  write_set(options.out, "dev", options.dev, SceneSet::dev, random);
  write_set(options.out, "train", options.train, SceneSet::train, random);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_main("generate_shapes", [&] { return run(argc, argv); });
}
