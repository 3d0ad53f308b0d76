// Shell completions: the scripts, and the candidates that they ask for with `regard __complete`.
#include "cli/outline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "config/docs.h"

namespace regard {
namespace {

constexpr std::size_t max_brief_length = 72;  // bytes

// bash splits --option=value and key=value at the =, which becomes a word. $2 is the value.
constexpr const char* bash_script =
    R"sh(# bash completion of regard, written by `regard completions bash`

_regard() {
  local word program=${1/#\~/$HOME}
  type -P "$program" >/dev/null || program=regard
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    case $word in
      :files*) compopt -o default ;;
      :folders*) compopt -o dirnames ;;
      "$2"*) COMPREPLY+=("$word") ;;
    esac
  done < <("$program" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ ${COMPREPLY-} != *= ]] || compopt -o nospace
}

complete -F _regard regard
)sh";

constexpr const char* zsh_script = R"sh(#compdef regard
# zsh completion of regard, written by `regard completions zsh`

_regard() {
  local program=${${(Q)words[1]}/#\~/$HOME}
  whence -p $program >/dev/null || program=regard
  local -a lines=(${(f)"$($program __complete "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)"})
  local -a candidates=(${lines/$'\t'/:})
  [[ $candidates[1] != :*= ]] || compset -P '[^=]#='
  case $candidates[1] in
    :files*) _files ;;
    :folders*) _files -/ ;;
    *=:*) _describe setting candidates -S '' ;;
    *) _describe argument candidates ;;
  esac
}

if [[ $funcstack[1] == _regard ]]; then
  _regard "$@"
else
  compdef _regard regard
fi
)sh";

// If the function returns 1, fish completes files.
constexpr const char* fish_script =
    R"sh(# fish completion of regard, written by `regard completions fish`

function __regard_complete
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -l program (string replace -r '^~' "$HOME" -- $words[1])
    type -fq $program; or set program regard
    type -fq $program; or return
    set -g __regard_candidates ($program __complete $words[2..-1] "$token" 2>/dev/null)
    if string match -q ':folders*' -- "$__regard_candidates"
        set -l start
        test "$__regard_candidates" = :folders; or set start (string match -r '^.*?=' -- "$token")
        set -l value (string replace -- "$start" '' "$token")
        set __regard_candidates "$start"(__fish_complete_directories "$value")
    end
    not string match -q ':files*' -- "$__regard_candidates[1]"
end

complete -c regard -n __regard_complete -f -a '$__regard_candidates'
)sh";

// Returns the first clause of a help text, cut with an ellipsis if it is longer than 72 bytes. Does
// not end it at a colon, which may follow the readers of a key ("samples above 0: …").
std::string brief(std::string_view help) {
  for (const std::string_view delimiter : {"; ", " (", ", e.g."}) {
    help = help.substr(0, std::min(help.find(delimiter), help.size()));
  }
  if (help.size() <= max_brief_length) return std::string(help);
  return std::string(help.substr(0, help.rfind(' ', max_brief_length))) + " …";
}

std::string candidate_line(const std::string& word, std::string_view help) {
  return fmt::format("{}\t{}\n", word, brief(help));
}

// Returns ":files" or ":folders", with "=" at the end for those behind the first "=" of the word.
std::string directive(const char* what, const std::string& start) {
  return fmt::format(":{}{}\n", what, start.empty() ? "" : "=");
}

// Returns the candidates for KEY=VALUE: the keys if `key` is empty, otherwise the values of `key`,
// or files if they are not a list. `start` is written before each value.
std::string setting_candidates(const std::string& key, const std::string& start) {
  std::string lines;
  for (const auto& setting : all_settings()) {
    if (key.empty()) lines += candidate_line(setting.key + "=", setting.help);
    if (setting.key != key) continue;
    for (const auto& value : setting.values) lines += start + value + "\n";
  }
  return lines.empty() ? directive("files", start) : lines;
}

// Returns the candidates for a value of the option or argument, of which `typed` is there already.
// `key` is before a "=", or empty.
std::string value_candidates(const OptionOutline& option, const std::string& key,
                             const std::string& start, const std::string& typed) {
  switch (option.kind) {
    case ValueKind::choice: {
      // After a comma, the candidates for the next name of the list.
      const auto names = option.repeated ? typed.rfind(',') + 1 : 0;
      const auto begin = start + typed.substr(0, names);
      return fmt::format("{}{}\n", begin, fmt::join(option.choices, "\n" + begin));
    }
    case ValueKind::file:
      return directive("files", start);
    case ValueKind::folder:
      return directive("folders", start);
    case ValueKind::setting:
      return setting_candidates(key, start);
    default:
      return "";
  }
}

// Returns the option with this name that takes a value, or nullptr.
const OptionOutline* option_with_value(const CommandOutline& command, const std::string& name) {
  for (const auto& option : command.options) {
    const bool is_named = std::ranges::find(option.names, name) != option.names.end();
    if (is_named && option.kind != ValueKind::none) return &option;
  }
  return nullptr;
}

// bash splits words at "=". Joins them.
std::vector<std::string> join_at_equals(const std::vector<std::string>& words) {
  std::vector<std::string> joined;
  bool joins = false;
  for (const auto& word : words) {
    joins = (joins || word == "=") && !joined.empty();
    if (joins) {
      joined.back() += word;
    } else {
      joined.push_back(word);
    }
    joins = word == "=";
  }
  return joined;
}

}  // namespace

std::string completion_script(const std::string& shell) {
  return shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : fish_script;
}

std::string completion_candidates(const CommandOutline& program,
                                  const std::vector<std::string>& words) {
  auto before = join_at_equals(words);
  if (before.empty()) return "";
  const auto last = before.back();
  before.pop_back();
  const auto* command = &program;
  const OptionOutline* option = nullptr;  // may take the next word as its value
  bool has_value = false;
  std::size_t position = 0;  // of the next positional argument
  for (const auto& word : before) {
    if (word.starts_with('-')) {
      option = option_with_value(*command, word);
      has_value = false;
    } else if (option != nullptr && (!has_value || option->repeated)) {
      has_value = true;
    } else {
      option = nullptr;
      const auto next = std::ranges::find(command->commands, word, &CommandOutline::last_word);
      const bool is_command = next != command->commands.end();
      position = is_command ? 0 : position + 1;
      if (is_command) command = &*next;
    }
  }
  if (option != nullptr && !has_value) return value_candidates(*option, "", "", last);
  const auto key = last.substr(0, std::min(last.find('='), last.size()));
  const bool is_assigned = key.size() < last.size();
  // The shell completes what is behind the "=", or the whole word.
  const auto start = is_assigned && words.back() == last ? key + "=" : "";
  if (last.starts_with('-')) {
    if (is_assigned) {
      option = option_with_value(*command, key);
      return option == nullptr ? ""
                               : value_candidates(*option, "", start, last.substr(key.size() + 1));
    }
    std::string lines;
    for (const auto& known : command->options) {
      for (const auto& name : known.names) lines += candidate_line(name, known.help);
    }
    return lines;
  }
  if (option != nullptr && option->repeated) return value_candidates(*option, "", "", last);
  std::string lines;
  for (const auto& next : command->commands) lines += candidate_line(next.last_word(), next.help);
  const auto& arguments = command->arguments;
  if (!lines.empty() || arguments.empty()) return lines;
  const auto& argument = arguments[std::min(position, arguments.size() - 1)];
  if (position >= arguments.size() && !argument.repeated) return "";
  return value_candidates(argument, is_assigned ? key : "", start, last);
}

}  // namespace regard
