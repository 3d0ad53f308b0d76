// Shorthands for adding options to the parser. They are not in arguments.h, which the commands
// include without CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "cli/arguments.h"

namespace regard {

// Adds an option for one number or several. `range` is whole_number() or real_number().
template <typename Value>
CLI::Option* add_number(CLI::App& command, const std::string& name, Value& value,
                        const std::string& help, const CLI::Validator& range) {
  return command.add_option(name, value, help)->transform(range)->type_name("N");
}

// Adds --threads. `threads` is an integer, or an optional one.
template <typename Threads>
void add_threads(CLI::App& command, Threads& threads) {
  add_number(command, "--threads", threads,
             "CPU threads; 0 uses one for each processor that this process may use",
             whole_number(0, 1024));
}

// Adds an option for one file or several. Shells complete its value with file names.
template <typename Value>
CLI::Option* add_file(CLI::App& command, const std::string& name, Value& value,
                      const std::string& help) {
  return command.add_option(name, value, help)->type_name("FILE");
}

// Puts all options that are added to `command` during its lifetime into the group `name` of the
// help.
class HelpGroup {
 public:
  HelpGroup(CLI::App& command, const std::string& name)
      : defaults_(*command.option_defaults()), previous_(defaults_.get_group()) {
    defaults_.group(name);
  }
  ~HelpGroup() { defaults_.group(previous_); }
  HelpGroup(const HelpGroup&) = delete;
  HelpGroup& operator=(const HelpGroup&) = delete;

 private:
  CLI::OptionDefaults& defaults_;
  std::string previous_;
};

}  // namespace regard
