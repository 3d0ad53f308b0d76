// The manual pages, in the troff format of man(7).
#include "cli/outline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "base/version.h"

namespace regard {
namespace {

constexpr const char* exit_status = R"(.SH EXIT STATUS
.TP
.B 0
Success.
.TP
.B 1
Unexpected error: a bug in regard.
.TP
.B 2
Error in the command line or the configuration.
.TP
.B 3
Error in input data; the message names file and line.
.TP
.B 4
Training diverged; the last checkpoint is kept.
.TP
.B 5
A checkpoint is unreadable, or does not match the configuration.
.TP
.B 6
Environment error: disk full, no permission, too little memory, too few
processes, no such device, run folder in use, standard output closed.
.TP
.BR 129 ", " 130 ", " 143
Training was stopped by a signal, after saving.
)";

constexpr const char* environment = R"(.SH ENVIRONMENT
.TP
.B NO_COLOR
If set, output has no colours.
)";

// Escapes text for troff: keeps hyphens, and writes characters beyond ASCII as code points.
std::string escape(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (bytes > 1) {
      unsigned number = first & (0x7FU >> bytes);
      for (std::size_t k = 1; k < bytes; ++k) {
        number = number << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
      }
      result += fmt::format("\\[u{:04X}]", number);
    } else if (first == '\\') {
      result += "\\e";
    } else if (first == '-') {
      result += "\\-";
    } else if (first == '\'') {
      result += "\\(aq";
    } else {
      result += text[i];
    }
    i += bytes;
  }
  return result;
}

// Returns the name of the page of the command `name`: "regard-config" for "regard config".
std::string page_name(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string to_upper(std::string text) {
  for (auto& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

// Returns a help text with a final full stop, escaped and wrapped. Escapes a dot at the start of a
// line, which would make the line a troff request.
std::string paragraph(std::string help) {
  if (!help.empty() && help.back() != '.') help += '.';
  return replace_all("\n" + wrap(escape(help), 78, ""), "\n.", "\n\\&.").substr(1);
}

std::string argument_text(const OptionOutline& argument) {
  const auto text = argument.value + (argument.repeated ? " ..." : "");
  return argument.required ? text : "[" + text + "]";
}

std::string synopsis(const CommandOutline& command) {
  std::string text = ".B " + escape(command.name) + "\n";
  if (!command.options.empty()) text += ".RI [ options ]\n";
  if (!command.commands.empty()) text += ".I command\n";
  for (const auto& argument : command.arguments) {
    text += ".I " + escape(argument_text(argument)) + "\n";
  }
  return text;
}

std::string option_text(const OptionOutline& option) {
  std::string text = ".TP\n";
  std::string names;
  for (const auto& name : option.names) {
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escape(name));
  }
  if (option.names.empty()) {
    names = fmt::format("\\fI{}\\fR", escape(argument_text(option)));
  } else if (!option.value.empty()) {
    names += fmt::format(" \\fI{}\\fR", escape(option.value));
  }
  auto help = option.help;
  if (!option.range.empty()) help += fmt::format(" ({})", option.range);
  return text + names + "\n" + paragraph(help) + "\n";
}

// Returns the positional arguments, then the options by group, the default group first. `heading`
// is the troff macro of the headings.
std::string options_text(const CommandOutline& command, const std::string& heading) {
  std::string text;
  std::vector<std::string> groups;
  for (const auto& option : command.options) {
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  }
  if (!command.arguments.empty()) {
    text += heading + " Arguments\n";
    for (const auto& argument : command.arguments) text += option_text(argument);
  }
  for (const auto& group : groups) {
    text += heading + " \"" + escape(group) + "\"\n";
    for (const auto& option : command.options) {
      if (option.group == group) text += option_text(option);
    }
  }
  return text;
}

// Returns the section about subcommands: their options, or references to their own pages.
std::string commands_text(const CommandOutline& command, bool with_options) {
  if (command.commands.empty()) return "";
  std::string text = ".SH COMMANDS\n";
  for (const auto& subcommand : command.commands) {
    if (with_options) {
      text += ".SS \"" + escape(subcommand.name) + "\"\n" + paragraph(subcommand.help) + "\n";
      for (const auto& argument : subcommand.arguments) text += option_text(argument);
      for (const auto& option : subcommand.options) text += option_text(option);
    } else {
      text += fmt::format(".TP\n.BR {} (1)\n{}\n", escape(page_name(subcommand.name)),
                          paragraph(subcommand.help));
    }
  }
  return text;
}

// Appends the examples of a command that are not in the list yet.
void collect_examples(const CommandOutline& command, std::vector<UsageExample>& all) {
  for (const auto& example : command.examples) {
    const auto is_duplicate = [&](const UsageExample& known) {
      return known.command == example.command;
    };
    if (std::ranges::none_of(all, is_duplicate)) all.push_back(example);
  }
}

// Returns the section of examples, with those of the subcommands if `with_commands`.
std::string examples_section(const CommandOutline& command, bool with_commands) {
  std::vector<UsageExample> examples;
  collect_examples(command, examples);
  for (const auto& subcommand : command.commands) {
    if (with_commands) collect_examples(subcommand, examples);
  }
  std::string text = ".SH EXAMPLES\n";
  for (const auto& [line, description] : examples) {
    text += fmt::format(".TP\n.B {}\n{}\n", escape(line), paragraph(description));
  }
  return text;
}

}  // namespace

std::string manual_page(const CommandOutline& program, const CommandOutline& command) {
  const bool is_program = &command == &program;
  const auto name = page_name(command.name);
  auto text = fmt::format(".TH {} 1 \"{}\" \"regard {}\" \"User Commands\"\n",
                          to_upper(escape(name)), release_date(), version());
  auto summary = command.help.substr(0, command.help.find('.'));
  summary[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(summary[0])));
  text += fmt::format(".SH NAME\n{} \\- {}\n", escape(name), escape(summary));
  text += ".SH SYNOPSIS\n" + synopsis(command);
  text += ".SH DESCRIPTION\n" + paragraph(command.help) + "\n";
  text += commands_text(command, !is_program);
  text += ".SH OPTIONS\n" + options_text(command, ".SS");
  text += examples_section(command, !is_program);
  text += environment;
  text += exit_status;
  text += ".SH SEE ALSO\n";
  std::vector<std::string> others;
  for (const auto& subcommand : program.commands) {
    if (subcommand.name != command.name) others.push_back(page_name(subcommand.name));
  }
  if (!is_program) others.insert(others.begin(), "regard");
  for (std::size_t i = 0; i < others.size(); ++i) {
    text += fmt::format(".BR {} (1){}\n", escape(others[i]), i + 1 < others.size() ? "," : "");
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> manual_pages(const CommandOutline& program) {
  std::vector<std::pair<std::string, std::string>> pages = {
      {"regard.1", manual_page(program, program)}};
  for (const auto& command : program.commands) {
    pages.emplace_back(page_name(command.name) + ".1", manual_page(program, command));
  }
  return pages;
}

}  // namespace regard
