// regard config init: a look at two text files, a few questions where somebody is there to answer
// them, and a configuration that fits.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/answers.h"
#include "answers/questions.h"
#include "answers/split.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/documents.h"
#include "config/check.h"
#include "config/reader.h"
#include "config/suggestion.h"
#include "data/corpus_look.h"
#include "data/line_reader.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using Pair = std::pair<std::string, std::string>;

bool is_letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// `text` with `word` in the place of its last "train", "training" or "trn" that stands by itself:
// "europarl.train.en" with "dev" is "europarl.dev.en". Nothing if it has none.
std::optional<std::string> with_part(const std::string& text, const std::string& word) {
  for (const std::string part : {"training", "train", "trn"}) {
    for (auto at = text.rfind(part); at != std::string::npos && at < text.size();
         at = at == 0 ? std::string::npos : text.rfind(part, at - 1)) {
      const auto end = at + part.size();
      const bool begins = at == 0 || !is_letter_or_digit(text[at - 1]);
      if (begins && (end == text.size() || !is_letter_or_digit(text[end]))) {
        return text.substr(0, at) + word + text.substr(end);
      }
    }
  }
  return std::nullopt;
}

// The file that would hold the part called `word` of a corpus, by the name of its training text, in
// three ways: "a.train.en" -> "a.dev.en", "train/a.en" -> "dev/a.en", "a.en" -> "dev.en".
std::optional<std::string> sibling(const fs::path& train, const std::string& word, int way) {
  const auto name = train.filename().string();
  const auto folder = train.parent_path();
  if (way == 0) {
    const auto other = with_part(name, word);
    return other ? std::optional((folder / *other).string()) : std::nullopt;
  }
  if (way == 1) {
    const auto other = with_part(folder.filename().string(), word);
    return other ? std::optional((folder.parent_path() / *other / name).string()) : std::nullopt;
  }
  const auto dot = name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  return (folder / (word + name.substr(dot))).string();
}

// The file of this name, or packed where the name is not, or the other way round; "" if there is
// neither.
std::string plain_or_packed(const std::string& path) {
  const auto other = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path + ".gz";
  return is_file(path) ? path : is_file(other) ? other : "";
}

// The validation pair that lies beside the training pair under a usual name; or nothing. A test set
// is not taken: it would no longer be unseen.
Pair dev_beside(const Pair& train) {
  for (const int way : {0, 1, 2}) {
    for (const std::string word :
         {"dev", "valid", "val", "validation", "development", "devel", "tune"}) {
      const auto source = sibling(train.first, word, way);
      const auto target = sibling(train.second, word, way);
      if (!source || !target) continue;
      const Pair dev = {plain_or_packed(*source), plain_or_packed(*target)};
      if (dev != train && !dev.first.empty() && !dev.second.empty()) return dev;
    }
  }
  return {};
}

void check_text(const std::string& path) {
  if (path == "-") {
    throw ConfigError("config init: training reads its texts several times; give files, not -");
  }
  if (path.empty()) throw InputError("found nothing, expected the path of a file");
  LineReader reader(path);
  std::string line;
  reader.next(line);
}

CorpusFacts look(const Pair& pair) {
  check_text(pair.first);
  check_text(pair.second);
  return look_at(pair.first, pair.second);
}

void check_name(const std::string& name) {
  if (!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos) return;
  throw ConfigError("name: found `{}`, expected the name of a folder, for runs/NAME", name);
}

// What is known, and what is asked for where it is not. A wrong answer is asked for again; a wrong
// word of the command line is an error.
class Interview {
 public:
  explicit Interview(const ConfigInitArguments& given)
      : given_(given), asking_(!given.yes && can_ask()) {}

  CorpusFacts train() const {
    if (!asking_ && given_.target.empty()) {
      throw ConfigError(
          "config init: give the two text files, source and target (nobody is there to be asked)");
    }
    const auto source = given_.source.empty() ? ask("source text", "", check_text) : given_.source;
    if (!given_.target.empty()) return look({source, given_.target});
    check_text(source);
    CorpusFacts facts;
    ask("its translation, line by line", "", [&](const std::string& target) {
      facts = look({source, target});
    });
    return facts;
  }

  std::string name(const CorpusFacts& facts) const {
    if (!given_.name.empty()) return given_.name;
    const auto stem = fs::path(given_.output).stem().string();
    const auto languages = facts.src.language.empty() || facts.trg.language.empty()
                               ? std::string("model")
                               : facts.src.language + "-" + facts.trg.language;
    const auto guess = is_standard_stream(stem) ? languages : stem;
    return asking_ ? ask("what the model is called", guess, check_name) : guess;
  }

  std::string output(const std::string& name) const {
    if (!given_.output.empty() || !asking_) return given_.output;
    return ask("where the configuration goes", name + ".yaml", refuse_existing);
  }

  // Nothing if there is no validation pair.
  std::optional<CorpusFacts> dev(const Pair& train) const {
    if (!given_.dev.empty()) return look({given_.dev[0], given_.dev[1]});
    if (given_.split > 0) return std::nullopt;
    const auto found = dev_beside(train);
    if (found.first.empty()) return std::nullopt;
    if (!asking_) return look(found);
    const auto source =
        ask("validation source (`-` for none)", found.first, [](const std::string& path) {
          if (path != "-") check_text(path);
        });
    if (source == "-") return std::nullopt;
    CorpusFacts facts;
    ask("its translation", source == found.first ? found.second : "",
        [&](const std::string& target) {
          facts = look({source, target});
        });
    return facts;
  }

  // How many pairs to set apart if there is no validation pair.
  std::int64_t split(std::int64_t pairs) const {
    if (given_.split > 0 || !asking_ || pairs < 2) return given_.split;
    return ask_number("pairs to set apart for validation, in new files (0 for none)",
                      std::clamp<std::int64_t>(pairs / 20, 1, 1'000), pairs - 1);
  }

 private:
  const ConfigInitArguments& given_;
  bool asking_;
};

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

// `what`: "training" or "validation".
void warn_of_one_file(const CorpusFacts& facts, const std::string& what) {
  if (!is_same_file(facts.src.path, facts.trg.path)) return;
  log::warning(
      "{}: the {} pair is this one file on both sides, which only teaches to copy; give the "
      "translation as the second file",
      facts.src.path, what);
}

void say(const std::string& what, const SideFacts& side, std::int64_t lines) {
  log::info("{}: {} ({})", side.path, facts_text(side, lines),
            side.language.empty() ? what : fmt::format("{}, {}", what, side.language));
}

}  // namespace

void init_config(const ConfigInitArguments& arguments) {
  const Interview interview(arguments);
  refuse_existing(arguments.output);
  if (!arguments.name.empty()) check_name(arguments.name);
  Suggestion suggestion;
  suggestion.documents = documents_folder();
  suggestion.train = interview.train();
  const Pair train = {suggestion.train.src.path, suggestion.train.trg.path};
  say("source", suggestion.train.src, suggestion.train.pairs);
  say("target", suggestion.train.trg, suggestion.train.pairs);
  warn_of_one_file(suggestion.train, "training");
  const auto dev = interview.dev(train);
  const auto apart = dev ? 0 : interview.split(suggestion.train.pairs);
  suggestion.name = interview.name(suggestion.train);
  const auto output = interview.output(suggestion.name);
  refuse_existing(output);
  if (apart > 0) {
    const auto files = split_pairs(train.first, train.second, apart,
                                   fs::path(output).parent_path() / suggestion.name);
    log::info("{} for validation: {}, {}", counted(apart, "pair"), files.dev_src, files.dev_trg);
    suggestion.train = look_at(files.train_src, files.train_trg);
    suggestion.dev_src = files.dev_src;
    suggestion.dev_trg = files.dev_trg;
  } else if (dev) {
    suggestion.dev_src = dev->src.path;
    suggestion.dev_trg = dev->trg.path;
    log::info("validation: {}, {}: {}", dev->src.path, dev->trg.path, counted(dev->pairs, "pair"));
    warn_of_one_file(*dev, "validation");
    if (is_same_file(dev->src.path, train.first)) {
      log::warning(
          "{}: trained on and validated on, so that a validation tells nothing of new text",
          train.first);
    }
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
