// regard config init: a look at two text files, a few questions where somebody is there to answer
// them, and a configuration that fits.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "answers/answers.h"
#include "answers/questions.h"
#include "answers/split.h"
#include "base/file.h"
#include "base/log.h"
#include "config/check.h"
#include "config/reader.h"
#include "config/suggestion.h"
#include "data/corpus_look.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using Pair = std::pair<std::string, std::string>;

// A name for what is there already: "train.en" -> "dev.en".
std::string sibling(const std::string& path, const std::string& stem) {
  const fs::path file(path);
  const auto name = file.filename().string();
  const auto dot = name.find('.');
  return dot == std::string::npos ? "" : (file.parent_path() / (stem + name.substr(dot))).string();
}

// The validation pair that lies beside the training pair under a usual name; or nothing.
Pair dev_beside(const Pair& train) {
  std::error_code ignored;
  for (const std::string stem : {"dev", "valid", "val", "validation"}) {
    const Pair dev = {sibling(train.first, stem), sibling(train.second, stem)};
    if (dev != train && fs::exists(dev.first, ignored) && fs::exists(dev.second, ignored)) {
      return dev;
    }
  }
  return {};
}

// What is known, and what is asked for where it is not.
class Interview {
 public:
  explicit Interview(const ConfigInitArguments& given)
      : given_(given), asking_(!given.yes && can_ask()) {}

  Pair train() const {
    if (!asking_ && given_.target.empty()) {
      throw ConfigError(
          "config init: give the two text files, source and target (nobody is there to be asked)");
    }
    return {given_.source.empty() ? ask("source text") : given_.source,
            given_.target.empty() ? ask("its translation, line by line") : given_.target};
  }

  std::string name(const CorpusFacts& facts) const {
    if (!given_.name.empty()) return given_.name;
    const auto stem = fs::path(given_.output).stem().string();
    const auto languages = facts.src.language.empty() || facts.trg.language.empty()
                               ? std::string("model")
                               : facts.src.language + "-" + facts.trg.language;
    const auto guess = is_standard_stream(stem) ? languages : stem;
    return asking_ ? ask("what the model is called", guess) : guess;
  }

  std::string output(const std::string& name) const {
    if (!given_.output.empty() || !asking_) return given_.output;
    return ask("where the configuration goes", name + ".yaml");
  }

  Pair dev(const Pair& train) const {
    if (!given_.dev.empty()) return {given_.dev[0], given_.dev[1]};
    if (given_.split > 0) return {};
    const auto found = dev_beside(train);
    if (!asking_ || found.first.empty()) return found;
    const auto source = ask("validation source (`-` for none)", found.first);
    if (source == "-") return {};
    return {source, ask("its translation", source == found.first ? found.second : "")};
  }

  // How many pairs to set apart where there is no validation pair.
  std::int64_t split(std::int64_t pairs) const {
    if (given_.split > 0 || !asking_) return given_.split;
    return ask_number("pairs to set apart for validation, in new files (0 for none)",
                      std::clamp<std::int64_t>(pairs / 20, 1, 1'000));
  }

 private:
  const ConfigInitArguments& given_;
  bool asking_;
};

void say(const std::string& what, const SideFacts& side, std::int64_t lines) {
  log::info("{}: {} ({})", side.path, facts_text(side, lines),
            side.language.empty() ? what : fmt::format("{}, {}", what, side.language));
}

}  // namespace

void init_config(const ConfigInitArguments& arguments) {
  const Interview interview(arguments);
  refuse_existing(arguments.output);
  auto train = interview.train();
  if (train.first == "-" || train.second == "-") {
    throw ConfigError("config init: training reads its texts several times; give files, not -");
  }
  Suggestion suggestion;
  suggestion.train = look_at(train.first, train.second);
  say("source", suggestion.train.src, suggestion.train.pairs);
  say("target", suggestion.train.trg, suggestion.train.pairs);
  const auto dev = interview.dev(train);
  const auto apart = dev.first.empty() ? interview.split(suggestion.train.pairs) : 0;
  suggestion.name = interview.name(suggestion.train);
  const auto output = interview.output(suggestion.name);
  refuse_existing(output);
  if (apart > 0) {
    const auto files = split_pairs(train.first, train.second, apart,
                                   fs::path(output).parent_path() / suggestion.name);
    log::info("{} pairs for validation: {}, {}", apart, files.dev_src, files.dev_trg);
    suggestion.train = look_at(files.train_src, files.train_trg);
    suggestion.dev_src = files.dev_src;
    suggestion.dev_trg = files.dev_trg;
  } else if (!dev.first.empty()) {
    const auto facts = look_at(dev.first, dev.second);
    log::info("validation: {}, {}: {} pairs", dev.first, dev.second, facts.pairs);
    std::tie(suggestion.dev_src, suggestion.dev_trg) = dev;
  } else {
    log::warning("no validation pair: nothing will tell when to stop; --split sets pairs apart");
  }
  const auto yaml = suggested_config(suggestion);
  check_training_options(parse_options(yaml, "the configuration"));
  print_to(output, yaml);
  if (!is_standard_stream(output)) {
    log::info("{}: written. Train with: regard train -c {}", output, output);
  }
}

}  // namespace regard
