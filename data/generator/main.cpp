// generate_corpus --out DIR [--seed N] [--train N] [--dev N] [--test N] [--test-long N]
//
// Writes the bundled corpus. The same options give the same bytes on every machine.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "base/error.h"
#include "corpus.h"

namespace {

using regard::ConfigError;

constexpr std::string_view usage =
    "generate_corpus --out DIR [--seed 1] [--train 24000] [--dev 500] [--test 1000] "
    "[--test-long 500]\n";

template <typename Number>
Number number(std::string_view option, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw ConfigError("{} wants a whole number, found '{}'", option, text);
  return value;
}

int run(int argc, char** argv) {
  regard::corpus::CorpusOptions options;
  std::string out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--help") {
      fmt::print("{}", usage);
      return 0;
    }
    if (i + 1 == argc)
      throw ConfigError("{}: an option and its value come in pairs\n{}", option, usage);
    const std::string_view value = argv[++i];
    if (option == "--out")
      out = value;
    else if (option == "--seed")
      options.seed = number<std::uint64_t>(option, value);
    else if (option == "--train")
      options.train = number<std::size_t>(option, value);
    else if (option == "--dev")
      options.dev = number<std::size_t>(option, value);
    else if (option == "--test")
      options.test = number<std::size_t>(option, value);
    else if (option == "--test-long")
      options.test_long = number<std::size_t>(option, value);
    else
      throw ConfigError("no such option: {}\n{}", option, usage);
  }
  if (out.empty()) throw ConfigError("--out DIR is missing\n{}", usage);
  const auto corpus = regard::corpus::generate(options);
  regard::corpus::write(corpus, out);
  fmt::print("{}", regard::corpus::statistics(corpus));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const regard::Error& error) {
    fmt::print(stderr, "generate_corpus: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "generate_corpus: {}\n", error.what());
    return 1;
  }
}
