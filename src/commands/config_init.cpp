// regard config init: reads two text files, asks questions on a terminal, and writes a
// configuration.
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/choice.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/random.h"
#include "base/strings.h"
#include "base/version.h"
#include "cli/command_line.h"
#include "commands/output_file.h"
#include "commands/without_torch.h"
#include "config/check.h"
#include "config/reader.h"
#include "config/starter_config.h"
#include "config/yaml_reader.h"
#include "data/column_choice.h"
#include "data/corpus_statistics.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "data/text_path.h"
#include "text/unicode.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

bool is_letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// Replaces the last "training", else "train", else "trn" that is not part of a longer word by
// `word`: "europarl.train.en" becomes "europarl.dev.en". Returns nullopt if there is none.
std::optional<std::string> replace_train(const std::string& text, const std::string& word) {
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

// Returns the path of another part of a corpus, such as the `word` "dev", from the path of its
// training text. The naming schemes are, for 0, 1 and 2: "a.train.en" -> "a.dev.en", "train/a.en"
// -> "dev/a.en", "a.en" -> "dev.en". Returns nullopt if the path does not follow the scheme.
std::optional<std::string> sibling(const fs::path& train, const std::string& word, int scheme) {
  const auto name = train.filename().string();
  const auto folder = train.parent_path();
  if (scheme == 0) {
    const auto other = replace_train(name, word);
    return other ? std::optional((folder / *other).string()) : std::nullopt;
  }
  if (scheme == 1) {
    const auto other = replace_train(folder.filename().string(), word);
    return other ? std::optional((folder.parent_path() / *other / name).string()) : std::nullopt;
  }
  const auto dot = name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  return (folder / (word + name.substr(dot))).string();
}

// Returns the path with or without .gz, whichever file exists, or "".
std::string plain_or_gz(const std::string& path) {
  const auto other = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path + ".gz";
  return is_file(path) ? path : is_file(other) ? other : "";
}

// Finds a validation pair with a usual name beside the training pair. Returns empty paths if there
// is none. Never returns a test set, which must stay unseen.
TextPair find_dev_pair(const TextPair& train) {
  const auto src = split_text_path(train.first), trg = split_text_path(train.second);
  const auto beside = [](const TextPath& text, const std::string& word, int scheme) {
    if (text.column && scheme == 2) return std::string();  // a name that says too little
    const auto other = sibling(text.file, word, scheme);
    const auto file = other ? plain_or_gz(*other) : "";
    return file.empty() || !text.column ? file : file + "#" + *text.column;
  };
  for (const int scheme : {0, 1, 2}) {
    for (const std::string word :
         {"dev", "valid", "val", "validation", "development", "devel", "tune"}) {
      TextPair dev = {beside(src, word, scheme), beside(trg, word, scheme)};
      if (dev != train && !dev.first.empty() && !dev.second.empty()) return dev;
    }
  }
  return {};
}

// Throws ConfigError for standard input, and InputError if `path` is empty or its first line cannot
// be read.
void check_text(const std::string& path) {
  if (path == "-") {
    throw ConfigError(
        "config init: training reads its texts several times; give files instead of -");
  }
  if (path.empty()) throw InputError("found nothing, expected the path of a file");
  if (first_invalid_utf8(path) != std::string_view::npos) {
    throw ConfigError(
        "{}: this name is not UTF-8, so no configuration can name the file; rename it", path);
  }
  if (is_named_as_records(path)) return;  // its lines may be no text
  LineReader reader(path);
  std::string line;
  reader.next(line);
}

CorpusStatistics read_statistics(const TextPair& pair) {
  for (const auto& path : {pair.first, pair.second}) {
    check_text(path);
    warn_of_missing_column(path);
  }
  return read_corpus_statistics(pair.first, pair.second);
}

// Chooses source and target in a file of both, and tells which.
TextPair columns_of(const std::string& file) {
  const auto chosen = choose_columns(file);
  log::info("{}: the source, as in `{}`", chosen.src.path, chosen.src.example);
  log::info("{}: the target, as in `{}`", chosen.trg.path, chosen.trg.example);
  for (const auto& other : chosen.left_out) {
    const auto both = other.path + "+" + *split_text_path(chosen.src.path).column;
    log::info("{}: left out ({}), as in `{}`{}", other.path, other.kind, other.example,
              other.kind == "labels" ? "; to read it before the source, name " + both : "");
  }
  return {chosen.src.path, chosen.trg.path};
}

// Returns NAME+NAME for columns that are numbers, if line 1 of the table may be a header: a few
// words in each column, which none of the first lines has again. Otherwise returns "".
std::string possible_names(const std::string& path) {
  constexpr std::size_t max_words = 3, max_lines = 20'000;
  const auto text = split_text_path(path);
  std::string names;
  for (const auto& number : selected_columns(text.column.value_or(""))) {
    if (!parse_number<std::size_t>(number)) return "";
    const auto lines = first_lines(text.file + "#" + number, max_lines);
    const auto& name = lines.front();
    if (!has_letter(name) || split_at_ascii_space(name).size() > max_words) return "";
    if (std::ranges::count(lines, name) > 1) return "";
    names += (names.empty() ? "" : "+") + name;
  }
  return names;
}

// Tells that line 1 of a table is read as a pair if it may be a header. `option`: before the pair.
void tell_of_possible_header(const CorpusStatistics& statistics, const std::string& option) {
  const auto &src = statistics.src.path, &trg = statistics.trg.path;
  const auto source = possible_names(src), target = possible_names(trg);
  if (source.empty() || target.empty() || source == target) return;
  log::info(
      "{}: line 1 (`{}`, `{}`) is taken as a pair; if it is a header, name the columns: regard "
      "config init {}{} {}",
      file_of_text(src), excerpt(source), excerpt(target), option,
      shell_word(file_of_text(src) + "#" + source), shell_word(file_of_text(trg) + "#" + target));
}

void check_name(const std::string& name) {
  if (!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos) return;
  throw ConfigError("name: found `{}`, expected the name of a folder, for runs/NAME", name);
}

// Asks "question [proposed]: ". Returns the typed line without surrounding spaces, or `proposed` if
// it is empty. Throws EnvironmentError at the end of the input.
std::string ask_once(const std::string& question, const std::string& proposed) {
  std::cerr << question << (proposed.empty() ? "" : fmt::format(" [{}]", proposed)) << ": ";
  std::string answer;
  if (!std::getline(std::cin, answer)) {
    std::cerr << '\n';
    throw EnvironmentError("no answer: end of input");
  }
  const auto begin = answer.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return proposed;
  return answer.substr(begin, answer.find_last_not_of(" \t\r") + 1 - begin);
}

// True if standard input and standard error are terminals.
bool can_ask() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

using Accept = std::function<void(const std::string&)>;

// As ask_once(), but calls accept(answer). If that throws an Error, prints its message and asks
// again.
std::string ask(const std::string& question, const std::string& proposed, const Accept& accept) {
  for (;;) {
    auto answer = ask_once(question, proposed);
    try {
      accept(answer);
      return answer;
    } catch (const Error& error) {
      std::cerr << error.what() << '\n';
    }
  }
}

// Asks for an integer from 0 to `max`.
std::int64_t ask_number(const std::string& question, std::int64_t proposed, std::int64_t max) {
  std::int64_t number = 0;
  ask(question, std::to_string(proposed), [&](const std::string& answer) {
    number = parse_number<std::int64_t>(answer).value_or(-1);
    if (number >= 0 && number <= max) return;
    throw ConfigError("found `{}`, expected a whole number from 0 to {}", answer, max);
  });
  return number;
}

// Makes the choices of a configuration. Each function returns the value of the command line. If
// there is none, it asks the user on a terminal, again after a wrong answer; otherwise it guesses.
// Throws an error if the command line is wrong. `arguments` must outlive the object.
class Interview {
 public:
  explicit Interview(const ConfigInitArguments& arguments)
      : arguments_(arguments), is_interactive_(!arguments.yes && can_ask()) {}

  // Chooses the training pair and measures it.
  CorpusStatistics train() const {
    if (!is_interactive_ && arguments_.source.empty()) {
      throw ConfigError(
          "config init: give two text files, source and target, or a file of both (questions need "
          "a terminal)");
    }
    auto source =
        arguments_.source.empty() ? ask("source text", "", check_text) : arguments_.source;
    if (!arguments_.target.empty()) return read_statistics({source, arguments_.target});
    check_text(source);
    if (!split_text_path(source).column && has_columns(source)) {
      try {
        return read_statistics(columns_of(source));
      } catch (const InputError& error) {
        if (!is_interactive_) throw;
        std::cerr << error.what() << '\n';
        source = ask("source, as FILE#COLUMN", "", check_text);
      }
    }
    if (!is_interactive_) {
      throw ConfigError(
          "{}: found a text without columns and no second file; give two text files, source and "
          "target, or a file of both (questions need a terminal)",
          source);
    }
    CorpusStatistics statistics;
    ask("its translation, line by line", "", [&](const std::string& target) {
      statistics = read_statistics({source, target});
    });
    return statistics;
  }

  // Chooses the name of the model.
  std::string name(const CorpusStatistics& statistics) const {
    if (!arguments_.name.empty()) return arguments_.name;
    const auto stem = fs::path(arguments_.output).stem().string();
    const auto languages = statistics.src.language.empty() || statistics.trg.language.empty()
                               ? std::string("model")
                               : statistics.src.language + "-" + statistics.trg.language;
    const auto guess = is_standard_stream(stem) ? languages : stem;  // the stem of "" is ""
    return is_interactive_ ? ask("name of the model", guess, check_name) : guess;
  }

  // Chooses the output file; empty for standard output.
  std::string output(const std::string& name) const {
    if (!arguments_.output.empty() || !is_interactive_) return arguments_.output;
    return ask("output file", name + ".yaml", check_new_file);
  }

  // Chooses the validation pair and measures it. Returns nullopt if there is none.
  std::optional<CorpusStatistics> dev(const TextPair& train) const {
    if (arguments_.dev.size() == 1) {
      try {
        return read_statistics(columns_of(arguments_.dev[0]));
      } catch (const InputError& error) {
        throw InputError("{}", replace_all(error.what(), "regard config init", "--dev"));
      }
    }
    if (!arguments_.dev.empty()) return read_statistics({arguments_.dev[0], arguments_.dev[1]});
    if (arguments_.split > 0) return std::nullopt;
    const auto pair = find_dev_pair(train);
    if (pair.first.empty()) return std::nullopt;
    if (!is_interactive_) return read_statistics(pair);
    const auto source =
        ask("validation source (`-` for none)", pair.first, [](const std::string& path) {
          if (path != "-") check_text(path);
        });
    if (source == "-") return std::nullopt;
    CorpusStatistics statistics;
    ask("its translation", source == pair.first ? pair.second : "", [&](const std::string& target) {
      statistics = read_statistics({source, target});
    });
    return statistics;
  }

  // If there is no validation pair, chooses how many of the training pairs to use for validation.
  std::int64_t dev_pairs(std::int64_t pairs) const {
    if (arguments_.split > 0 || !is_interactive_ || pairs < 2) return arguments_.split;
    return ask_number("number of pairs to use for validation, in new files (0 for none)",
                      std::clamp<std::int64_t>(pairs / 20, 1, 1'000), pairs - 1);
  }

 private:
  const ConfigInitArguments& arguments_;
  bool is_interactive_;
};

// True if two paths are one file and one column, by number or by name.
bool are_one_text(const std::string& a, const std::string& b) {
  std::error_code ignored;
  const auto first = split_text_path(a), second = split_text_path(b);
  return fs::equivalent(first.file, second.file, ignored) &&
         (first.column == second.column || first.column == possible_names(b) ||
          second.column == possible_names(a));
}

// Warns if both sides are the same file. `what`: "training" or "validation".
void warn_if_same_file(const CorpusStatistics& statistics, const std::string& what) {
  if (!are_one_text(statistics.src.path, statistics.trg.path)) return;
  log::warning(
      "{}: both sides of the {} pair are this file, so the model would learn to copy; give the "
      "translation as the second file",
      statistics.src.path, what);
}

void log_side(const std::string& what, const SideStatistics& side, std::int64_t lines) {
  constexpr std::size_t compared = 200;
  if (are_attributions(first_lines(side.path, compared))) {
    log::warning("{}: the lines name authors or licences, as in `{}`; choose a column of text",
                 side.path, excerpt(first_lines(side.path, 1).front()));
  }
  log::info("{}: {} ({})", side.path, statistics_text(side, lines),
            side.language.empty() ? what : fmt::format("{}, {}", what, side.language));
}

struct SplitFiles {
  TextPair train;
  TextPair dev;
};

// Draws `count` of these lines. Element i of the result is true if line i, of `total`, was drawn.
std::vector<bool> draw_lines(std::vector<std::size_t> lines, std::size_t count, std::size_t total) {
  Random random(1);
  std::vector<bool> is_drawn(total);
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(lines[i], lines[i + random.below(lines.size() - i)]);
    is_drawn[lines[i]] = true;
  }
  return is_drawn;
}

// Returns the pairs from which those for validation are drawn: the first of each source, with text
// on both sides. If enough sources occur only once, only these, so that no other pair has their
// source.
std::vector<std::size_t> pairs_to_draw_from(const std::vector<std::string>& sources,
                                            const std::vector<std::string>& targets,
                                            std::size_t count) {
  std::unordered_map<std::string_view, std::size_t> occurrences;
  for (const auto& source : sources) ++occurrences[source];
  std::vector<std::size_t> distinct;
  std::vector<std::size_t> once;
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (is_blank(sources[i]) || is_blank(targets[i]) || !seen.insert(sources[i]).second) continue;
    distinct.push_back(i);
    if (occurrences[sources[i]] == 1) once.push_back(i);
  }
  return once.size() >= count ? once : distinct;
}

// Returns the extensions of new source and target files.
std::pair<std::string, std::string> extensions(const std::string& src, const std::string& trg) {
  const auto source = language_from_path(src), target = language_from_path(trg);
  if (source.empty() || target.empty() || source == target) return {"src", "trg"};
  return {source, target};
}

// Returns STEM.PART.EXTENSION. Throws ConfigError if that file exists.
std::string new_file(const fs::path& stem, const std::string& part, const std::string& extension) {
  auto path = fmt::format("{}.{}.{}", stem.string(), part, extension);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return path;
  throw ConfigError("{}: file exists; give the model another name, or pass the file with --dev",
                    path);
}

// Draws `dev_pairs` pairs with a fixed seed and writes both parts, in the order of the corpus, to
// STEM.train.en, STEM.dev.en and so on. The extensions are those of the files, or src and trg if
// they are equal. Drops training pairs whose source is also in the validation part, and tells how
// many. Throws ConfigError if an output file exists or no training pair is left.
SplitFiles split_pairs(const std::string& src, const std::string& trg, std::int64_t dev_pairs,
                       const fs::path& stem) {
  const auto sources = read_lines(src);
  const auto targets = read_lines(trg);
  check_line_counts(src, sources.size(), trg, targets.size());
  const auto count = static_cast<std::size_t>(dev_pairs);
  if (count >= sources.size()) {
    throw ConfigError("--split: found {}, expected less than the {} of {}", dev_pairs,
                      counted(sources.size(), "pair"), src);
  }
  const auto [source, target] = extensions(src, trg);
  SplitFiles files = {{new_file(stem, "train", source), new_file(stem, "train", target)},
                      {new_file(stem, "dev", source), new_file(stem, "dev", target)}};
  auto candidates = pairs_to_draw_from(sources, targets, count);
  if (count > candidates.size()) {
    throw ConfigError("--split: found {}, expected at most the {} distinct source sentences of {}",
                      dev_pairs, candidates.size(), src);
  }
  const auto is_dev = draw_lines(std::move(candidates), count, sources.size());
  std::unordered_set<std::string> dev_sources;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (is_dev[i]) dev_sources.insert(sources[i]);
  }
  std::size_t dropped = 0;
  std::string text[4];  // in the order of SplitFiles
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!is_dev[i] && dev_sources.contains(sources[i])) {
      ++dropped;
      continue;
    }
    text[is_dev[i] ? 2 : 0] += sources[i] + "\n";
    text[is_dev[i] ? 3 : 1] += targets[i] + "\n";
  }
  if (text[0].empty()) {
    throw ConfigError("--split {}: no training pair would be left; {} has too few distinct pairs",
                      dev_pairs, src);
  }
  if (dropped > 0) {
    log::info("{} left out: the source is also in the validation part", counted(dropped, "pair"));
  }
  write_file(files.train.first, text[0]);
  write_file(files.train.second, text[1]);
  write_file(files.dev.first, text[2]);
  write_file(files.dev.second, text[3]);
  return files;
}

}  // namespace

ExitCode init_config(const ConfigInitArguments& arguments) {
  const Interview interview(arguments);
  check_new_file(arguments.output);
  if (!arguments.name.empty()) check_name(arguments.name);
  StarterConfig config;
  config.docs_folder = docs_folder();
  if (!arguments.architecture.empty()) {
    config.architecture = choice_named<LayerKind>("--architecture", arguments.architecture);
  }
  config.train = interview.train();
  const TextPair train = {config.train.src.path, config.train.trg.path};
  log_side("source", config.train.src, config.train.pairs);
  log_side("target", config.train.trg, config.train.pairs);
  warn_if_same_file(config.train, "training");
  tell_of_possible_header(config.train, "");
  const auto dev = interview.dev(train);
  const auto dev_pairs = dev ? 0 : interview.dev_pairs(config.train.pairs);
  config.name = interview.name(config.train);
  const auto output = interview.output(config.name);
  check_new_file(output);
  if (dev_pairs > 0) {
    const auto files = split_pairs(train.first, train.second, dev_pairs,
                                   fs::path(output).parent_path() / config.name);
    log::info("{} for validation: {}, {}", counted(dev_pairs, "pair"), files.dev.first,
              files.dev.second);
    config.train = read_corpus_statistics(files.train.first, files.train.second);
    std::tie(config.dev_src, config.dev_trg) = files.dev;
  } else if (dev) {
    config.dev_src = dev->src.path;
    config.dev_trg = dev->trg.path;
    log::info("validation: {}, {}: {}", dev->src.path, dev->trg.path, counted(dev->pairs, "pair"));
    warn_if_same_file(*dev, "validation");
    tell_of_possible_header(*dev, "… --dev ");
    if (sides_are_exchanged(train, {dev->src.path, dev->trg.path})) {
      log::warning(
          "{}, {}: the words are those of the other side of the training pair; expected the "
          "validation source, then its translation",
          dev->src.path, dev->trg.path);
    }
    if (are_one_text(dev->src.path, train.first)) {
      log::warning(
          "{}: used for training and validation, so validation says nothing about new text",
          train.first);
    }
  } else {
    log::warning(
        "no validation pair, so training cannot tell when to stop; use --split to make one");
  }
  measure_tokens(starter_tokenizer(config.train), config.train, {config.dev_src, config.dev_trg});
  if (config.train.empty_pairs > 0) {
    log::warning("{}, {}: a side is empty in {} of the first {}; training leaves them out",
                 config.train.src.path, config.train.trg.path, config.train.empty_pairs,
                 counted(config.train.measured_pairs, "pair"));
  }
  const auto yaml = starter_config_yaml(config);
  check_training_options(parse_options(yaml, "the configuration"));
  write_output(output, yaml);
  if (!is_standard_stream(output)) {
    log::info("{}: written; train with: regard train -c {}", output, shell_word(output));
  }
  return ExitCode::ok;
}

}  // namespace regard
