#include "cli/usage_errors.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/log.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "config/docs.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Returns all subcommands of a command, parsed or not.
std::vector<const CLI::App*> commands_in(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

// Returns the innermost command that the parser recognised.
const CLI::App& parsed_command(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return commands.empty() ? program : parsed_command(*commands.front());
}

// Returns the command named by the first words, or the program itself.
const CLI::App& find_command(const CLI::App& program, const Words& words) {
  const CLI::App* command = &program;
  for (const auto& word : words) {
    const auto commands = commands_in(*command);
    const auto next = std::ranges::find_if(
        commands, [&](const CLI::App* candidate) { return candidate->check_name(word); });
    if (next == commands.end()) break;
    command = *next;
  }
  return *command;
}

std::string full_name(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

Words names_of(const std::vector<const CLI::App*>& commands) {
  Words names;
  for (const auto* command : commands) names.push_back(command->get_name());
  return names;
}

Words options_of(const CLI::App& command) {
  Words names;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

// True if the command has a positional argument of this type, such as "MODEL".
bool accepts(const CLI::App& command, const std::string& type_name) {
  return std::ranges::any_of(positionals_of(command), [&](const CLI::Option* option) {
    return option->get_type_name() == type_name;
  });
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word.starts_with('-');
}

bool is_configuration(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml");
}

// True for anything that exists and is not a folder, such as a pipe.
bool is_existing_file(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// Returns a replacement for a word that is not a subcommand of `command`: a subcommand of it, such
// as "train"; one level deeper, such as "config print"; or, for a configuration file, a command
// that reads the file, with its option -c. Returns "" if nothing is similar.
std::string suggest_command(const CLI::App& command, const std::string& word) {
  if (is_configuration(word)) {
    return fmt::format("{} -c {}", command.get_parent() == nullptr ? "train" : "print",
                       shell_word(word));
  }
  const auto commands = commands_in(command);
  const auto direct = suggest(word, names_of(commands));
  if (direct && direct->similarity < Similarity::several_edits) return direct->word;
  for (const auto* next : commands) {
    const auto below = suggest(word, names_of(commands_in(*next)));
    if (below && (!direct || below->similarity < direct->similarity)) {
      return next->get_name() + " " + below->word;
    }
  }
  return direct ? direct->word : "";
}

// Returns the value of an unknown option: the text after "=", or the next word.
std::string value_in(const std::string& option, const Words& words) {
  if (const auto equals = option.find('='); equals != std::string::npos) {
    return option.substr(equals + 1);
  }
  const auto place = std::ranges::find(words, option);
  if (place == words.end() || place + 1 == words.end() || is_option(place[1])) return "VALUE";
  return place[1];
}

// Returns the configuration key that an unknown option probably means, by its full name or its last
// part. Prefers the other sections to `search`, because the commands that take keys, `train` and
// `config print`, rarely need search options.
std::optional<Suggestion> suggest_key(const std::string& name) {
  struct Keys {
    Words full;        // "training.optimizer"
    Words last_parts;  // "optimizer"

    void add(const std::string& key) {
      full.push_back(key);
      last_parts.push_back(key.substr(key.rfind('.') + 1));
    }
  };
  Keys all, preferred;
  for (const auto& setting : all_settings()) {
    all.add(setting.key);
    if (!setting.key.starts_with("search.")) preferred.add(setting.key);
  }
  if (auto whole = suggest(name, all.full)) {
    if (whole->similarity == Similarity::equal) return whole;
  }
  const auto by_last_part = [&](const Keys& keys) -> std::optional<Suggestion> {
    const auto part = suggest(name, keys.last_parts);
    if (!part) return std::nullopt;
    const auto index = std::ranges::find(keys.last_parts, part->word) - keys.last_parts.begin();
    return Suggestion{keys.full[static_cast<std::size_t>(index)], part->similarity};
  };
  const auto key = by_last_part(preferred);
  return key && key->similarity <= Similarity::synonym ? key : by_last_part(all);
}

// Returns the option or key=value that an unknown option probably means, or "".
std::string suggest_option(const CLI::App& command, const std::string& word, const Words& words) {
  const auto name = word.substr(0, word.find('='));
  const auto option = suggest(name, options_of(command));
  const auto key = accepts(command, "KEY=VALUE") ? suggest_key(name) : std::nullopt;
  if (key && (!option || key->similarity < option->similarity)) {
    return shell_word(key->word + "=" + value_in(word, words));
  }
  return option ? option->word : "";
}

// Returns the type ("MODEL", "FOLDER" or "FILE") of a positional argument that was given with an
// option, as in `regard info -m runs/mine`, or "".
std::string suggest_positional(const CLI::App& command, const std::string& word) {
  if (!is_option(word)) return "";
  const auto name = word.substr(0, word.find('='));
  // True if the option is one of `names`, or a misspelling of the last one.
  const auto means = [&](const std::string& type, const Words& names) {
    return accepts(command, type) && (std::ranges::find(names, name) != names.end() ||
                                      nearest(name, {names.back()}).has_value());
  };
  for (const std::string type : {"MODEL", "FOLDER"}) {
    if (means(type, {"-m", "--models", "--run", "--model"})) return type;
  }
  if (means("FILE", {"-c", "-i", "-f", "-s", "-t", "--src", "--trg", "--config", "--file"})) {
    return "FILE";
  }
  return "";
}

// Returns the option that is probably missing before a word: -m for a folder; for a file, the first
// of -i, -s, -t and -r that the command has and that was not given. Returns "" if there is none.
std::string suggest_option_for(const CLI::App& command, const std::string& word) {
  const auto is_available = [&](const char* name) {
    const auto* option = command.get_option_no_throw(name);
    return option != nullptr && option->count() == 0;
  };
  if (is_folder(word) && is_available("--model")) return "-m";
  if (!is_existing_file(word)) return "";
  for (const auto* option : {"--input", "--src", "--trg", "--ref"}) {
    if (is_available(option)) return "-" + command.get_option(option)->get_snames().at(0);
  }
  return "";
}

// Options and commands of other programs that have no counterpart, and what takes their place.
struct Replacement {
  std::string_view name;
  std::string_view text;
};
constexpr std::array<Replacement, 6> replacements{{
    {"--resume", "a run resumes by itself: give the same command again"},
    {"--arch",
     "the configuration has the architecture: set model.encoder.kind and model.decoder.kind, or "
     "begin with `regard config init --architecture transformer`"},
    {"--dropout", "set model.dropout.embeddings=P, .states=P, .readout=P or .attention=P"},
    {"--remove-bpe", "translations are words already: sub-words are always joined"},
    {"--post-process", "translations are words already: sub-words are always joined"},
    {"--detokenize", "translations are text already, unless data.tokenizer.kind is word"},
}};

std::optional<std::string> replacement_of(const std::string& word) {
  const auto name = word.substr(0, word.find('='));
  const auto found = std::ranges::find(replacements, name, &Replacement::name);
  if (found == replacements.end()) return std::nullopt;
  return fmt::format("unknown {} `{}`; {}", is_option(word) ? "argument" : "command", word,
                     found->text);
}

std::string did_you_mean(const std::string& meant) {
  return meant.empty() ? "" : fmt::format("; did you mean `{}`?", meant);
}

std::string unknown_command(const CLI::App& command, const std::string& word) {
  if (const auto replacement = replacement_of(word)) return *replacement;
  const auto meant = did_you_mean(suggest_command(command, word));
  return fmt::format("unknown command `{}`{} {}", word,
                     meant.empty() ? "; commands:" : meant + " Commands:",
                     fmt::join(names_of(commands_in(command)), ", "));
}

std::string unknown_argument(const CLI::App& command, const std::string& word, const Words& words) {
  if (const auto replacement = replacement_of(word)) return *replacement;
  if (const auto option = suggest_option_for(command, word); !option.empty()) {
    return fmt::format("unknown argument `{}`; did you mean `{} {}`?", word, option,
                       shell_word(word));
  }
  if (const auto argument = suggest_positional(command, word); !argument.empty()) {
    return fmt::format("unknown argument `{}`; give {} without an option: `{} {}`", word, argument,
                       full_name(command), argument);
  }
  return fmt::format("unknown argument `{}`{}", word,
                     did_you_mean(suggest_option(command, word, words)));
}

// Returns the configuration file that was given in the place of a key=value. If a run folder was
// given there, returns the file in it. Returns "" if there is neither.
std::string misplaced_configuration(const CLI::App& command) {
  const auto* config = command.get_option_no_throw("--config");
  if (config == nullptr || config->count() > 0 || !accepts(command, "KEY=VALUE")) return "";
  for (const auto& word : command.get_option("overrides")->results()) {
    if (word.find('=') != std::string::npos) continue;
    if (is_configuration(word) || is_existing_file(word)) return word;
    if (is_folder(word) && is_existing_file(word + "/config.yaml")) return word + "/config.yaml";
  }
  return "";
}

// Rewrites "run: At Most 1 required but received 2"; returns other messages as they are.
std::string too_many_values(const std::string& message) {
  constexpr std::string_view rule = ": At Most 1 required but received ";
  const auto at = message.find(rule);
  if (at == std::string::npos) return message;
  return fmt::format("{}: found {}, expected one", message.substr(0, at),
                     message.substr(at + rule.size()));
}

}  // namespace

bool has_unknown_command(const CLI::App& program) {
  const auto strays = program.remaining(/*recurse=*/true);
  return !strays.empty() && !strays.front().starts_with('-') &&
         !commands_in(parsed_command(program)).empty();
}

std::optional<std::string> find_misread_option(const CLI::App& program, const Words& words) {
  constexpr std::size_t min_length = 4;  // "-src"; shorter words such as "-lc" are flags
  const auto& command = find_command(program, words);
  for (const auto& word : words) {
    if (word == "--") break;
    if (word.size() < min_length || word[0] != '-' || word[1] < 'a' || word[1] > 'z') continue;
    const auto meant = suggest(word.substr(0, word.find('=')), options_of(command));
    if (!meant || meant->similarity > Similarity::synonym) continue;
    return fmt::format("unknown argument `{}`; did you mean `{}`?", word, meant->word);
  }
  return std::nullopt;
}

std::optional<std::string> find_misplaced_file(const CLI::App& program) {
  const auto& command = parsed_command(program);
  const auto* model = command.get_option_no_throw("--model");
  if (model == nullptr) return std::nullopt;
  Words models, files;
  for (const auto& word : model->results())
    (is_existing_file(word) ? files : models).push_back(word);
  if (files.empty()) return std::nullopt;
  const auto parent = fs::path(files[0]).parent_path().string();
  const auto folder = parent.empty() ? "." : parent;
  if (models.empty()) {
    return fmt::format("--model: found the file `{}`, expected the folder of a run or of a model{}",
                       files[0],
                       is_existing_file((fs::path(folder) / "model.safetensors").string())
                           ? fmt::format("; did you mean `-m {}`?", shell_word(folder))
                           : "");
  }
  std::string meant = "-m";
  for (const auto& path : models) meant += " " + shell_word(path);
  for (const auto& file : files) {
    // The option of the first file, then the option of all later files if it differs.
    std::vector<std::string> options = {"-i"};
    if (command.get_option_no_throw("--input") == nullptr) {
      options = {"-s", command.get_option_no_throw("--ref") != nullptr ? "-r" : "-t"};
    }
    const auto index = static_cast<std::size_t>(&file - files.data());
    meant += fmt::format(" {} {}", options[std::min(index, options.size() - 1)], shell_word(file));
  }
  return fmt::format("--model: found the file `{}`, expected folders{}", files[0],
                     did_you_mean(meant));
}

std::string describe_error(const CLI::App& program, const CLI::ParseError& error,
                           const Words& words) {
  const auto& command = parsed_command(program);
  const auto strays = program.remaining(/*recurse=*/true);
  if (!strays.empty()) {
    return has_unknown_command(program) ? unknown_command(command, strays.front())
                                        : unknown_argument(command, strays.front(), words);
  }
  const auto commands = commands_in(command);
  if (!commands.empty()) {
    return fmt::format("a command is missing; commands: {}", fmt::join(names_of(commands), ", "));
  }
  if (const auto file = misplaced_configuration(command); !file.empty()) {
    return fmt::format("--config is missing; did you mean `{} -c {}`?", full_name(command),
                       shell_word(file));
  }
  return too_many_values(error.what());
}

ExitCode report_usage_error(const CLI::App& program, const std::string& message,
                            const Words& words) {
  log::error("{}\nsee `{} --help`", message, full_name(find_command(program, words)));
  return ExitCode::usage;
}

}  // namespace regard
