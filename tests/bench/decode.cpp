// How fast a model translates a file, greedily and with a beam, in one process that loads it once.
// Prints Markdown and, as its last line, one JSON object. scripts/bench.sh decode runs it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/process.h"
#include "checkpoint/run_folder.h"
#include "data/line_reader.h"
#include "kernels/device.h"
#include "metrics/bleu.h"
#include "report/table.h"
#include "tests/bench/timing.h"
#include "translation/translator.h"

namespace regard {
namespace {

struct Arguments {
  std::string model;
  std::string input;
  std::string reference;
  std::vector<std::int64_t> beams = {1, 5};
  std::int64_t lines = 0;
  std::int64_t batch_size = 0;
  std::int64_t threads = 0;
  int repeats = 5;
};

std::vector<std::string> read_lines(const std::string& path, std::int64_t max_lines) {
  LineReader reader(path);
  std::vector<std::string> lines;
  std::string line;
  while ((max_lines == 0 || static_cast<std::int64_t>(lines.size()) < max_lines) &&
         reader.next(line))
    lines.push_back(line);
  return lines;
}

// One search over all lines: its times, one a round, and what came out of it.
struct Search {
  SearchRequest options;
  std::vector<double> times;
  std::int64_t tokens = 0;  // of the best hypotheses, with </s>
  double bleu = 0;
};

void run(Search& search, const Translator& translator, const std::vector<std::string>& lines,
         std::int64_t batch_size, const References& references) {
  std::vector<Translation> translations;
  search.times.push_back(
      seconds([&] { translations = translator.translate(lines, search.options, batch_size); }));
  search.tokens = 0;
  std::vector<std::string> texts;
  for (const auto& translation : translations) {
    texts.push_back(translation.text);
    if (translation.hypotheses.empty()) continue;
    const auto& best = translation.hypotheses[0];
    search.tokens += static_cast<std::int64_t>(best.tokens.size()) + (best.finished ? 1 : 0);
  }
  if (!references.empty()) search.bleu = corpus_score(Bleu(), texts, references);
}

Json report(const std::vector<Search>& searches, std::size_t lines, bool with_bleu) {
  Table table({{"search"},
               {"s", Align::right},
               {"sentences/s", Align::right},
               {"tokens/s", Align::right},
               {"tokens a sentence", Align::right},
               {"BLEU", Align::right}});
  Json json = Json::array();
  for (const auto& search : searches) {
    const auto time = median(search.times);
    const auto sentences = static_cast<double>(lines);
    const auto tokens = static_cast<double>(search.tokens);
    const auto beam = search.options.beam_size;
    table.add({beam == 1 ? "greedy" : fmt::format("beam {}", beam), fmt::format("{:.2f}", time),
               fmt::format("{:.1f}", sentences / time), fmt::format("{:.0f}", tokens / time),
               fmt::format("{:.1f}", tokens / sentences),
               with_bleu ? fmt::format("{:.2f}", search.bleu) : ""});
    Json row = {{"beam_size", beam},
                {"seconds", time},
                {"sentences_per_second", sentences / time},
                {"tokens_per_second", tokens / time},
                {"tokens_per_sentence", tokens / sentences}};
    if (with_bleu) row["bleu"] = search.bleu;
    json.push_back(row);
  }
  fmt::print("{}\n", table.markdown());
  return json;
}

void bench(const Arguments& arguments) {
  const auto workers = make_thread_pool(arguments.threads, torch::kCPU);
  const auto lines = read_lines(arguments.input, arguments.lines);
  if (lines.empty()) throw InputError("{}: found no line to translate", arguments.input);
  References references;
  if (!arguments.reference.empty())
    references.push_back(read_lines(arguments.reference, arguments.lines));

  const auto path = resolve_model(arguments.model);
  TranslationModel loaded;
  const auto loading = seconds([&] { loaded = load_model(path, torch::kCPU); });
  const Translator translator(loaded.model, loaded.codec, torch::kCPU, *workers);
  const auto& options = loaded.options.search;
  const auto batch_size = arguments.batch_size > 0 ? arguments.batch_size : options.batch_size;

  std::vector<Search> searches;
  for (const auto beam : arguments.beams) {
    searches.push_back({search_request(options), {}});
    searches.back().options.beam_size = beam;
  }
  for (int round = -1; round < arguments.repeats; ++round) {  // the first warms up
    for (auto& search : searches) {
      run(search, translator, lines, batch_size, references);
      if (round < 0) search.times.clear();
    }
  }

  fmt::print(
      "{} lines, {} thread(s), batches of {}, medians of {} rounds in turn. Loading the model, not "
      "counted: {:.2f} s.\n\n",
      lines.size(), workers->count(), batch_size, arguments.repeats, loading);
  Json json = {{"workers", workers->count()},
               {"repeats", arguments.repeats},
               {"lines", lines.size()},
               {"batch_size", batch_size},
               {"loading_seconds", loading},
               {"searches", report(searches, lines.size(), !references.empty())},
               {"peak_memory", peak_memory()}};
  fmt::print("{}\n", json.dump());
}

}  // namespace
}  // namespace regard

int main(int argc, char** argv) {
  CLI::App program("Times the translation of a file");
  regard::Arguments arguments;
  program.add_option("-m,--model", arguments.model, "a run folder or a model folder")->required();
  program.add_option("-i,--input", arguments.input, "text to translate")->required();
  program.add_option("-r,--reference", arguments.reference, "its translation, to score BLEU");
  program.add_option("--beams", arguments.beams, "beam sizes, 1 is greedy")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000));
  program.add_option("--lines", arguments.lines, "number of lines; 0 is all");
  program.add_option("--batch-size", arguments.batch_size, "0 is the model's own");
  program.add_option("--threads", arguments.threads, "threads; 0 is one for each core")
      ->check(CLI::Range(0, 1024));
  program.add_option("--repeats", arguments.repeats, "rounds after one warm-up round")
      ->check(CLI::Range(1, 1000));
  CLI11_PARSE(program, argc, argv);
  try {
    regard::bench(arguments);
  } catch (const regard::Error& error) {
    fmt::print(stderr, "decode_bench: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
