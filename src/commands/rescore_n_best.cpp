#include "commands/rescore_n_best.h"

#include <string>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "commands/output_file.h"
#include "commands/scorer.h"
#include "data/line_reader.h"
#include "text/n_best.h"

namespace regard {
namespace {

struct NBestList {
  std::vector<NBestEntry> entries;
  Pairs pairs;
};

NBestList read_n_best(const std::string& path, const std::vector<std::string>& source,
                      const std::string& source_path, const std::string& feature) {
  NBestList list;
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    auto entry = parse_n_best(line, reader.name(), reader.line_number());
    if (entry.sentence >= source.size()) {
      throw InputError("{}:{}: sentence {}, but {} has {}, counted from 0", reader.name(),
                       reader.line_number(), entry.sentence, input_name(source_path),
                       counted(source.size(), "line"));
    }
    if (has_feature(entry, feature)) {
      throw InputError("{}:{}: has a feature '{}' already; name this one with --feature",
                       reader.name(), reader.line_number(), feature);
    }
    list.pairs.source.push_back(source[entry.sentence]);
    list.pairs.target.push_back(entry.text);
    list.entries.push_back(std::move(entry));
  }
  return list;
}

void check_feature(const std::string& name) {
  if (!name.empty() && name.find_first_of(" \t|=") == std::string::npos) return;
  throw ConfigError("--feature '{}': wanted a word without blanks, | and =", name);
}

}  // namespace

ExitCode rescore_n_best(const ScoreArguments& arguments) {
  check_feature(arguments.feature);
  check_files({arguments.source, arguments.n_best}, {standard_unless_given(arguments.output)});
  auto source = read_lines(arguments.source);
  Scorer scorer(arguments.model);
  source = readable_source(scorer.model(), std::move(source), arguments.source);
  auto list = read_n_best(arguments.n_best, source, arguments.source, arguments.feature);
  OutputFile output(arguments.output);
  list.pairs.target =
      readable_target(scorer.model(), std::move(list.pairs.target), arguments.n_best);
  scorer.score(list.pairs, /*want_weights=*/false, arguments.batch_size);
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    auto& entry = list.entries[i];
    entry.features += fmt::format("{}{}= {:.4f}", entry.features.empty() ? "" : " ",
                                  arguments.feature, scorer.log_probability(i));
    output.write(to_n_best(entry) + "\n");
  }
  output.commit();
  return ExitCode::ok;
}

}  // namespace regard
