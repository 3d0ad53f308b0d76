// regard prepare: tokenizes the training corpora into a folder that training reads with
// data.prepared.
#include <cstddef>
#include <string>

#include "base/cpu.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "commands/commands.h"
#include "config/check.h"
#include "config/reader.h"
#include "data/prepare_corpus.h"
#include "data/prepared_corpus.h"
#include "report/format.h"
#include "report/table.h"

namespace regard {
namespace {

std::size_t thread_count(std::int64_t threads) {
  return static_cast<std::size_t>(threads > 0 ? threads : usable_processors());
}

// Returns a table of the corpora: pairs read, kept, and removed by each filter.
std::string corpora_table(const PrepareResult& result, const Options& options) {
  Table table({{"corpus"},
               {"pairs", Align::right},
               {"kept", Align::right},
               {"empty", Align::right},
               {"too long", Align::right},
               {"high ratio", Align::right},
               {"duplicates", Align::right},
               {"source tokens", Align::right},
               {"target tokens", Align::right}});
  const auto add = [&](const std::string& name, const CorpusReport& r) {
    table.add({name, format_thousands(r.read), format_thousands(r.kept), format_thousands(r.empty),
               format_thousands(r.too_long), format_thousands(r.high_ratio),
               format_thousands(r.duplicates), format_thousands(r.source.tokens),
               format_thousands(r.target.tokens)});
  };
  for (std::size_t i = 0; i < result.corpora.size(); ++i) {
    add(options.data.train[i].src, result.corpora[i]);
  }
  table.add_rule();
  add("all", result.all);
  return table.text();
}

ExitCode verify(const PrepareArguments& arguments) {
  if (!arguments.overrides.empty()) {
    throw ConfigError("prepare --verify reads no configuration; found {}", arguments.overrides[0]);
  }
  const PreparedCorpus prepared(arguments.verify);
  ThreadPool pool(thread_count(arguments.threads.value_or(0)));
  prepared.verify(pool);
  log::info("{}: intact, with {}", arguments.verify, counted(prepared.size(), "pair"));
  return ExitCode::ok;
}

}  // namespace

ExitCode prepare(const PrepareArguments& arguments) {
  if (!arguments.verify.empty()) return verify(arguments);
  if (arguments.config.empty() || arguments.output.empty()) {
    throw ConfigError("prepare: give a configuration with -c and a folder with -o, or --verify");
  }
  auto overrides = arguments.overrides;
  if (arguments.threads) overrides.push_back("threads=" + std::to_string(*arguments.threads));
  SourceLocations locations;
  auto options = read_options(arguments.config, overrides, &locations);
  options.data.prepared = "";  // the configuration may name this folder already
  check_training_options(options, locations);
  check_no_extension(options.data.tokenizer, locations);
  if (options.data.source == SourceKind::features) {
    throw ConfigError(
        "prepare: data.source is features: training reads a file of `regard features` in place, so "
        "there is nothing to prepare; train with `regard train`");
  }
  ThreadPool pool(thread_count(options.threads));
  const auto result = prepare_corpus(options, arguments.output, pool);
  log::info("{}", corpora_table(result, options));
  log::info("{}: {} in {}, {} MB. Train with: regard train -c {} {}", arguments.output,
            counted(result.all.kept, "pair"), counted(result.shards, "shard"),
            format_thousands(static_cast<std::int64_t>(result.bytes >> 20)),
            shell_word(arguments.config), shell_word("data.prepared=" + arguments.output));
  return ExitCode::ok;
}

}  // namespace regard
