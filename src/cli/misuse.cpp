#include "cli/misuse.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/log.h"
#include "base/suggest.h"
#include "config/settings.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::vector<const CLI::App*> commands_in(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

// The command that the words lead to, as far as the parser understood them.
const CLI::App& reached(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return commands.empty() ? program : reached(*commands.front());
}

// The command that the first words name; the program itself if they name none.
const CLI::App& named_by(const CLI::App& program, const Words& words) {
  const CLI::App* command = &program;
  for (const auto& word : words) {
    const auto below = commands_in(*command);
    const auto found =
        std::ranges::find_if(below, [&](const CLI::App* next) { return next->get_name() == word; });
    if (found == below.end()) break;
    command = *found;
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

bool takes(const CLI::App& command, const std::string& type_name) {
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

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// The command that a word in the place of one means; "" if none is like it.
std::string command_meant(const CLI::App& command, const std::string& word) {
  if (is_configuration(word)) {
    return fmt::format("{} -c {}", command.get_parent() == nullptr ? "train" : "print", word);
  }
  const auto commands = commands_in(command);
  const auto here = suggest(word, names_of(commands));
  if (here && here->likeness < Likeness::resemblance) return here->word;
  for (const auto* next : commands) {
    const auto below = suggest(word, names_of(commands_in(*next)));
    if (below && (!here || below->likeness < here->likeness)) {
      return next->get_name() + " " + below->word;
    }
  }
  return here ? here->word : "";
}

// The value that was given to an unknown option: behind "=", or the next word.
std::string value_of(const std::string& option, const Words& words) {
  if (const auto equals = option.find('='); equals != std::string::npos) {
    return option.substr(equals + 1);
  }
  const auto place = std::ranges::find(words, option);
  if (place == words.end() || place + 1 == words.end() || is_option(place[1])) return "VALUE";
  return place[1];
}

// The key of the configuration that an unknown option means: by its whole name, or by its last
// part. Those of `testing` come last: a training is meant.
std::optional<LikelyWord> key_meant(const std::string& name) {
  Words keys, parts, all_keys, all_parts;
  for (const auto& setting : all_settings()) {
    const auto part = setting.key.substr(setting.key.rfind('.') + 1);
    if (!setting.key.starts_with("testing.")) keys.push_back(setting.key), parts.push_back(part);
    all_keys.push_back(setting.key), all_parts.push_back(part);
  }
  if (auto whole = suggest(name, all_keys)) {
    if (whole->likeness == Likeness::spelling) return whole;
  }
  const auto by_part = [&](const Words& in, const Words& of) -> std::optional<LikelyWord> {
    const auto part = suggest(name, in);
    if (!part) return std::nullopt;
    const auto place = static_cast<std::size_t>(std::ranges::find(in, part->word) - in.begin());
    return LikelyWord{of[place], part->likeness};
  };
  const auto found = by_part(parts, keys);
  return found && found->likeness <= Likeness::other_name ? found : by_part(all_parts, all_keys);
}

// The option, or setting of the configuration, that an unknown option means; "" if none is like it.
std::string option_meant(const CLI::App& command, const std::string& word, const Words& words) {
  const auto name = word.substr(0, word.find('='));
  const auto option = suggest(name, options_of(command));
  const auto key = takes(command, "KEY=VALUE") ? key_meant(name) : std::nullopt;
  if (key && (!option || key->likeness < option->likeness)) {
    return key->word + "=" + value_of(word, words);
  }
  return option ? option->word : "";
}

// An option for what the command takes without one: `regard info -m runs/mine`.
std::string argument_instead(const CLI::App& command, const std::string& word) {
  if (!is_option(word)) return "";
  const auto name = word.substr(0, word.find('='));
  const auto means = [&](const std::string& type, const Words& names) {
    return takes(command, type) && (std::ranges::find(names, name) != names.end() ||
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

// The option that a word without one belongs behind; "" if none is known.
std::string option_for(const CLI::App& command, const std::string& word) {
  const auto given = [&](const char* option) {
    const auto* found = command.get_option_no_throw(option);
    return found == nullptr || found->count() > 0;
  };
  if (is_folder(word) && !given("--model")) return "-m";
  if (!is_file(word)) return "";
  for (const auto* option : {"--input", "--src", "--trg", "--ref"}) {
    if (!given(option)) return "-" + command.get_option(option)->get_snames().at(0);
  }
  return "";
}

std::string meant_text(const std::string& meant) {
  return meant.empty() ? "" : fmt::format("; did you mean `{}`?", meant);
}

std::string unknown_command(const CLI::App& command, const std::string& word) {
  const auto meant = meant_text(command_meant(command, word));
  return fmt::format("unknown command `{}`{} {}", word,
                     meant.empty() ? "; there are" : meant + " There are",
                     fmt::join(names_of(commands_in(command)), ", "));
}

std::string unknown_argument(const CLI::App& command, const std::string& word, const Words& words) {
  if (const auto option = option_for(command, word); !option.empty()) {
    return fmt::format("unknown argument `{0}`; did you mean `{1} {0}`?", word, option);
  }
  if (const auto argument = argument_instead(command, word); !argument.empty()) {
    return fmt::format("unknown argument `{}`; {} is given without an option: `{} {}`", word,
                       argument, full_name(command), argument);
  }
  return fmt::format("unknown argument `{}`{}", word,
                     meant_text(option_meant(command, word, words)));
}

// The configuration that was given as if it were a key=value, or that of the run which was; "" if
// there is none.
std::string stray_configuration(const CLI::App& command) {
  const auto* config = command.get_option_no_throw("--config");
  if (config == nullptr || config->count() > 0 || !takes(command, "KEY=VALUE")) return "";
  for (const auto& word : command.get_option("overrides")->results()) {
    if (word.find('=') != std::string::npos) continue;
    if (is_configuration(word) || is_file(word)) return word;
    if (is_folder(word) && is_file(word + "/config.yaml")) return word + "/config.yaml";
  }
  return "";
}

}  // namespace

bool names_no_command(const CLI::App& program) {
  const auto strays = program.remaining(/*recurse=*/true);
  return !strays.empty() && !strays.front().starts_with('-') &&
         !commands_in(reached(program)).empty();
}

std::optional<std::string> misread_option(const CLI::App& program, const Words& words) {
  constexpr std::size_t shortest = 4;  // "-src"; "-lc" and the like are flags
  const auto& command = named_by(program, words);
  for (const auto& word : words) {
    if (word == "--") break;
    if (word.size() < shortest || word[0] != '-' || word[1] < 'a' || word[1] > 'z') continue;
    const auto meant = suggest(word.substr(0, word.find('=')), options_of(command));
    if (!meant || meant->likeness > Likeness::other_name) continue;
    return fmt::format("unknown argument `{}`; did you mean `{}`?", word, meant->word);
  }
  return std::nullopt;
}

std::optional<std::string> misplaced_file(const CLI::App& program) {
  const auto& command = reached(program);
  const auto* model = command.get_option_no_throw("--model");
  if (model == nullptr) return std::nullopt;
  Words models, files;
  for (const auto& word : model->results()) (is_file(word) ? files : models).push_back(word);
  if (files.empty()) return std::nullopt;
  const auto folder = fs::path(files[0]).parent_path().string();
  if (models.empty()) {
    return fmt::format("--model: found the file `{}`, expected the folder of a run or of a model{}",
                       files[0],
                       is_file((fs::path(folder) / "model.safetensors").string())
                           ? fmt::format("; did you mean `-m {}`?", folder)
                           : "");
  }
  auto meant = fmt::format("-m {}", fmt::join(models, " "));
  for (const auto& file : files) {
    std::vector<std::string> options = {"-i"};
    if (command.get_option_no_throw("--input") == nullptr) {
      options = {"-s", command.get_option_no_throw("--ref") != nullptr ? "-r" : "-t"};
    }
    const auto place = static_cast<std::size_t>(&file - files.data());
    meant += fmt::format(" {} {}", options[std::min(place, options.size() - 1)], file);
  }
  return fmt::format("--model: found the file `{}`, expected folders{}", files[0],
                     meant_text(meant));
}

std::string complaint(const CLI::App& program, const CLI::ParseError& misuse, const Words& words) {
  const auto& command = reached(program);
  const auto strays = program.remaining(/*recurse=*/true);
  if (!strays.empty()) {
    return names_no_command(program) ? unknown_command(command, strays.front())
                                     : unknown_argument(command, strays.front(), words);
  }
  const auto commands = commands_in(command);
  if (!commands.empty()) {
    return fmt::format("a command is missing; there are {}", fmt::join(names_of(commands), ", "));
  }
  if (const auto file = stray_configuration(command); !file.empty()) {
    return fmt::format("--config is missing; did you mean `{} -c {}`?", full_name(command), file);
  }
  return misuse.what();
}

ExitCode report_misuse(const CLI::App& program, const std::string& complaint, const Words& words) {
  log::error("{}\n`{} --help` says more", complaint, full_name(named_by(program, words)));
  return ExitCode::usage;
}

}  // namespace regard
