#include "cli/manual.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.h"

namespace regard {
namespace {

constexpr std::size_t longest_line = 78;

constexpr const char* exit_status = R"(.SH EXIT STATUS
.TP
.B 0
Fine.
.TP
.B 1
Unexpected: a fault of regard.
.TP
.B 2
The command line or the configuration.
.TP
.B 3
Input data; the message has file and line.
.TP
.B 4
The training diverged; the last checkpoint stands.
.TP
.B 5
A checkpoint is unreadable, or not fit for this configuration.
.TP
.B 6
The environment refuses: disk full, no permission, no such device, run folder in
use.
.TP
.BR 129 ", " 130 ", " 143
The training was stopped by a signal, after saving.
)";

constexpr const char* environment = R"(.SH ENVIRONMENT
.TP
.B NO_COLOR
Set to anything: no colours.
)";

// Text for the formatter: hyphens stay hyphens, and what is not ASCII is named by its number.
std::string escaped(std::string_view text) {
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

// As input lines of at most 78 bytes, none of which is a request.
std::string wrapped(const std::string& text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    auto end = text.size();
    if (end - begin > longest_line) {
      const auto blank = text.rfind(' ', begin + longest_line);
      end = blank != std::string::npos && blank > begin ? blank : text.find(' ', begin);
      end = std::min(end, text.size());
    }
    if (begin > 0) result += '\n';
    if (text[begin] == '.') result += "\\&";
    result += text.substr(begin, end - begin);
    begin = end + 1;
  }
  return result;
}

std::string dashed(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string upper(std::string text) {
  for (auto& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string sentence(std::string help) {
  if (!help.empty() && help.back() != '.') help += '.';
  return wrapped(escaped(help));
}

std::string argument_text(const OptionOutline& argument) {
  const auto shown = argument.value + (argument.repeated ? " ..." : "");
  return argument.required ? shown : "[" + shown + "]";
}

std::string synopsis(const CommandOutline& command) {
  std::string text = ".B " + escaped(command.name) + "\n";
  if (!command.options.empty()) text += ".RI [ options ]\n";
  if (!command.commands.empty()) text += ".I command\n";
  for (const auto& argument : command.arguments) {
    text += ".I " + escaped(argument_text(argument)) + "\n";
  }
  return text;
}

std::string option_text(const OptionOutline& option) {
  std::string text = ".TP\n";
  std::string names;
  for (const auto& name : option.names) {
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
  }
  if (option.names.empty()) {
    names = fmt::format("\\fI{}\\fR", escaped(argument_text(option)));
  } else if (!option.value.empty()) {
    names += fmt::format(" \\fI{}\\fR", escaped(option.value));
  }
  auto help = option.help;
  if (!option.range.empty()) help += fmt::format(" ({})", option.range);
  return text + names + "\n" + sentence(help) + "\n";
}

// Options in their groups, the parser's own first.
std::string options_text(const CommandOutline& command, const std::string& level) {
  std::string text;
  std::vector<std::string> groups;
  for (const auto& option : command.options) {
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  }
  if (!command.arguments.empty()) {
    text += level + " Arguments\n";
    for (const auto& argument : command.arguments) text += option_text(argument);
  }
  for (const auto& group : groups) {
    text += level + " \"" + escaped(group) + "\"\n";
    for (const auto& option : command.options) {
      if (option.group == group) text += option_text(option);
    }
  }
  return text;
}

std::string commands_text(const CommandOutline& command, bool with_options) {
  if (command.commands.empty()) return "";
  std::string text = ".SH COMMANDS\n";
  for (const auto& next : command.commands) {
    if (with_options) {
      text += ".SS \"" + escaped(next.name) + "\"\n" + sentence(next.help) + "\n";
      for (const auto& argument : next.arguments) text += option_text(argument);
      for (const auto& option : next.options) text += option_text(option);
    } else {
      text += fmt::format(".TP\n.BR {} (1)\n{}\n", escaped(dashed(next.name)), sentence(next.help));
    }
  }
  return text;
}

void collect_examples(const CommandOutline& command, std::vector<Example>& all) {
  for (const auto& example : command.examples) {
    const auto is_same = [&](const Example& known) { return known.command == example.command; };
    if (std::ranges::none_of(all, is_same)) all.push_back(example);
  }
}

std::string examples_section(const CommandOutline& command, bool with_commands) {
  std::vector<Example> examples;
  collect_examples(command, examples);
  for (const auto& next : command.commands) {
    if (with_commands) collect_examples(next, examples);
  }
  std::string text = ".SH EXAMPLES\n";
  for (const auto& [line, what] : examples) {
    text += fmt::format(".TP\n.B {}\n{}\n", escaped(line), sentence(what));
  }
  return text;
}

}  // namespace

std::string manual_page(const CommandOutline& program, const CommandOutline& command) {
  const bool is_program = &command == &program;
  const auto name = dashed(command.name);
  auto text = fmt::format(".TH {} 1 \"{}\" \"regard {}\" \"User Commands\"\n", upper(escaped(name)),
                          release_date(), version());
  auto what = command.help.substr(0, command.help.find('.'));
  what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
  text += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(what));
  text += ".SH SYNOPSIS\n" + synopsis(command);
  text += ".SH DESCRIPTION\n" + sentence(command.help) + "\n";
  text += commands_text(command, !is_program);
  text += ".SH OPTIONS\n" + options_text(command, ".SS");
  text += examples_section(command, !is_program);
  text += environment;
  text += exit_status;
  text += ".SH SEE ALSO\n";
  std::vector<std::string> others;
  for (const auto& next : program.commands) {
    if (next.name != command.name) others.push_back(dashed(next.name));
  }
  if (!is_program) others.insert(others.begin(), "regard");
  for (std::size_t i = 0; i < others.size(); ++i) {
    text += fmt::format(".BR {} (1){}\n", escaped(others[i]), i + 1 < others.size() ? "," : "");
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> manual_pages(const CommandOutline& program) {
  std::vector<std::pair<std::string, std::string>> pages = {
      {"regard.1", manual_page(program, program)}};
  for (const auto& command : program.commands) {
    pages.emplace_back(dashed(command.name) + ".1", manual_page(program, command));
  }
  return pages;
}

}  // namespace regard
