// generate_corpus --out DIR [--seed N] [--train N] [--dev N] [--test N] [--test-long N]
// [--test-names N] [--agreement N]
//
// Writes the bundled corpus. The same options produce the same bytes on every machine.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "agreement.h"
#include "base/error.h"
#include "corpus.h"
#include "options.h"

namespace {

constexpr std::string_view usage =
    "generate_corpus --out DIR [--seed 1] [--train 24000] [--dev 500] [--test 1000] "
    "[--test-long 500] [--test-names 0] [--agreement 0]\n";

int run(int argc, char** argv) {
  regard::corpus::CorpusOptions options;
  std::size_t agreement = 0;
  std::string out;
  regard::corpus::OptionReader reader(argc, argv, usage);
  while (reader.next()) {
    reader.text("--out", out);
    reader.number("--seed", options.seed);
    reader.number("--train", options.train);
    reader.number("--dev", options.dev);
    reader.number("--test", options.test);
    reader.number("--test-long", options.test_long);
    reader.number("--test-names", options.test_names);
    reader.number("--agreement", agreement);
  }
  if (reader.help_requested()) return 0;
  if (out.empty()) throw regard::ConfigError("--out DIR is missing\n{}", usage);
  const auto corpus = regard::corpus::generate(options);
  regard::corpus::write(corpus, out);
  if (agreement > 0) {
    regard::corpus::write(regard::corpus::agreement_pairs(agreement, options.seed), out);
  }
  fmt::print("{}", regard::corpus::statistics(corpus));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return regard::corpus::run_main("generate_corpus", [&] { return run(argc, argv); });
}
