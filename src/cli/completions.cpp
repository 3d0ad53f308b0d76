#include "cli/completions.h"

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"

namespace regard {
namespace {

constexpr std::size_t longest_brief = 72;

struct Shell {
  std::string name;
  std::string (*write)(const CommandOutline&);
};

const std::vector<Shell>& shells() {
  static const std::vector<Shell> all = {
      {"bash", bash_completions}, {"zsh", zsh_completions}, {"fish", fish_completions}};
  return all;
}

}  // namespace

std::vector<std::string> known_shells() {
  std::vector<std::string> names;
  for (const auto& shell : shells()) names.push_back(shell.name);
  return names;
}

std::string completions(const CommandOutline& program, const std::string& shell) {
  const auto found = std::ranges::find(shells(), shell, &Shell::name);
  if (found == shells().end()) throw unknown_name("shell", shell, known_shells());
  return found->write(program);
}

std::string brief(std::string_view help) {
  for (const std::string_view end : {"; ", ": ", " (", ", e.g."}) {
    help = help.substr(0, std::min(help.find(end), help.size()));
  }
  if (help.size() <= longest_brief) return std::string(help);
  return std::string(help.substr(0, help.rfind(' ', longest_brief))) + " …";
}

bool takes_settings(const CommandOutline& command) {
  return std::ranges::any_of(command.arguments, [](const OptionOutline& argument) {
    return argument.kind == ValueKind::setting;
  });
}

}  // namespace regard
