// The outlines of all commands, for tests.
#pragma once

#include <vector>

#include "cli/outline.h"

namespace regard {

// Returns the command and all its subcommands, recursively.
inline std::vector<CommandOutline> all_commands(const CommandOutline& command) {
  std::vector<CommandOutline> all = {command};
  for (const auto& next : command.commands) {
    const auto below = all_commands(next);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace regard
