// regard man: one page to standard output, or all of them into a folder.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "answers/answers.h"
#include "base/file.h"
#include "base/owned_files.h"
#include "base/suggest.h"
#include "cli/manual.h"

namespace regard {

void print_manual(const CommandOutline& program, const ManArguments& arguments) {
  if (!arguments.into.empty()) {
    const std::filesystem::path folder(arguments.into);
    refuse_owned_file(folder);
    make_folder(folder);
    for (const auto& [name, page] : manual_pages(program)) write_file(folder / name, page);
    return;
  }
  if (arguments.verb.empty() || arguments.verb == program.name) {
    return print(manual_page(program, program));
  }
  const auto found =
      std::ranges::find(program.commands, arguments.verb, &CommandOutline::last_word);
  if (found == program.commands.end()) {
    std::vector<std::string> known;
    for (const auto& command : program.commands) known.push_back(command.last_word());
    throw unknown_name("command", arguments.verb, known);
  }
  print(manual_page(program, *found));
}

}  // namespace regard
