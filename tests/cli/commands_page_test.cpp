// docs/commands.md is generated from the help of the program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "cli/command_line.h"
#include "cli/outline.h"
#include "tests/cli/all_commands.h"

namespace regard::commands_page_test {
namespace {

constexpr const char* introduction = R"(# Commands

<!-- Generated from the help texts in src/cli/. Run the test CommandsPage with REGARD_UPDATE=1 to update this page. -->

`regard COMMAND --help` shows the same. Every command has `--quiet`; commands that print figures have `--json`.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | unexpected: a bug in regard |
| 2 | usage or configuration error |
| 3 | input data error; the message has file:line |
| 4 | training diverged; the last checkpoint is valid |
| 5 | the checkpoint is unreadable, or does not fit this configuration |
| 6 | environment error: disk full, no permission, too little memory, too few processes, no such device, run folder in use, standard output closed |
| 129, 130, 143 | training or pipeline stopped by SIGHUP, SIGINT or SIGTERM, after saving (SIGUSR1 saves and continues) |
)";

// Escapes the characters that Markdown would interpret in a table.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string row_of(const OptionOutline& option) {
  std::string names;
  for (const auto& name : option.names) names += (names.empty() ? "" : ", ") + name;
  const auto value = option.value.empty() ? "" : (names.empty() ? "" : " ") + option.value;
  std::string help = cell(option.help);
  if (!option.range.empty()) help += " [" + option.range + "]";
  return "| `" + names + (names.empty() ? value : "") + "`" +
         (names.empty() || value.empty() ? "" : cell(value)) + " | " + help + " |\n";
}

std::string section_of(const CommandOutline& command) {
  auto text = "\n## `" + command.name + "`\n\n" + command.help + "\n";
  if (!command.examples.empty()) {
    text += "\n```sh\n";
    for (const auto& example : command.examples) {
      text += "# " + example.description + "\n" + example.command + "\n";
    }
    text += "```\n";
  }
  std::string rows;
  for (const auto& argument : command.arguments) rows += row_of(argument);
  for (const auto& option : command.options) {
    const auto& name = option.names.back();
    const bool is_everywhere = name == "--help" || name == "--help-all" || name == "--quiet";
    if (!is_everywhere) rows += row_of(option);
  }
  if (!rows.empty()) text += "\n| option | what it does |\n|---|---|\n" + rows;
  return text;
}

TEST(CommandsPage, IsUpToDate) {
  const CommandLine command_line;
  const auto program = command_line.outline();
  std::string page = introduction;
  for (const auto& command : all_commands(program)) {
    if (command.commands.empty()) page += section_of(command);
  }
  const auto path = std::filesystem::path(REGARD_SOURCE_DIR) / "docs" / "commands.md";
  if (std::getenv("REGARD_UPDATE")) write_file(path, page);
  EXPECT_EQ(read_file<EnvironmentError>(path, "generated file"), page)
      << "docs/commands.md is out of date: run this test with REGARD_UPDATE=1 and commit the file";
}

}  // namespace
}  // namespace regard::commands_page_test
