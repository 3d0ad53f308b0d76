// generate_pointers --task sort|hull --out DIR [--seed 1] [--elements 10] [--train N] [--dev N]
// [--test N]
//
// Writes DIR/{train,dev,test}.{source,positions}. The same options produce the same bytes on every
// machine. No source is in two sets.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "options.h"
#include "pointer_tasks.h"

namespace {

using namespace regard;
using namespace regard::corpus;

constexpr std::string_view usage =
    "generate_pointers --task sort|hull --out DIR [--seed 1] [--elements 10] [--train 100000] "
    "[--dev 500] [--test 2000]\n";

struct PointerOptions {
  std::string task;
  std::string out;
  std::uint64_t seed = 1;
  std::size_t elements = 10;
  std::size_t train = 100000;
  std::size_t dev = 500;
  std::size_t test = 2000;
};

struct Lines {
  std::string source;
  std::string positions;
};

Lines random_lines(const PointerOptions& options, Random& random) {
  if (options.task == "sort") {
    const auto numbers = random_numbers(options.elements, random);
    return {line(numbers), line(sorted_order(numbers))};
  }
  const auto points = random_points(options.elements, random);
  return {line(points), line(convex_hull(points))};
}

void check(const PointerOptions& options) {
  if (options.task != "sort" && options.task != "hull") {
    throw ConfigError("--task: found '{}', expected sort or hull\n{}", options.task, usage);
  }
  if (options.out.empty()) throw ConfigError("--out DIR is missing\n{}", usage);
  const std::size_t min = options.task == "hull" ? 3 : 1;
  const std::size_t max = options.task == "hull" ? 50 : 100;
  if (options.elements < min || options.elements > max) {
    throw ConfigError("--elements: found {}, expected {} to {}", options.elements, min, max);
  }
}

void write(const PointerOptions& options) {
  Random random(options.seed);
  std::set<std::string> seen;
  std::filesystem::create_directories(options.out);
  const auto write_set = [&](const std::string& name, std::size_t count) {
    const auto path = (std::filesystem::path(options.out) / name).string();
    std::ofstream source(path + ".source", std::ios::binary);
    std::ofstream positions(path + ".positions", std::ios::binary);
    for (std::size_t tries = 0, written = 0; written < count; ++tries) {
      if (tries > 100 * (count + 100)) {
        throw ConfigError("found only {} different lists of {} elements; request fewer lines",
                          written, options.elements);
      }
      const auto lines = random_lines(options, random);
      if (!seen.insert(lines.source).second) continue;
      source << lines.source << '\n';
      positions << lines.positions << '\n';
      ++written;
    }
    source.flush();
    positions.flush();
    if (!source || !positions)
      throw EnvironmentError("{}: cannot be written; is the disk full?", path);
  };
  write_set("test", options.test);
  write_set("dev", options.dev);
  write_set("train", options.train);
}

int run(int argc, char** argv) {
  PointerOptions options;
  OptionReader reader(argc, argv, usage);
  while (reader.next()) {
    reader.text("--task", options.task);
    reader.text("--out", options.out);
    reader.number("--seed", options.seed);
    reader.number("--elements", options.elements);
    reader.number("--train", options.train);
    reader.number("--dev", options.dev);
    reader.number("--test", options.test);
  }
  if (reader.help_requested()) return 0;
  check(options);
  write(options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_main("generate_pointers", [&] { return run(argc, argv); });
}
