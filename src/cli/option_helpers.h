// Shorthands for adding options to the parser. They are not in arguments.h, which the commands
// include without CLI11.
#pragma once

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/choice.h"
#include "cli/arguments.h"
#include "config/parts.h"

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

// Accepts one of the names in `choices`, "a|b|c".
CLI::Validator one_of(const std::string& choices);

// Adds an option for one name of a list, or for several. `choices` is the list as the help shows
// it, "a|b|c".
template <typename Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value,
                        const std::string& help, const std::string& choices) {
  return command.add_option(name, value, help)->check(one_of(choices))->type_name(choices);
}

// Returns the option of a key: --beam-size for beam_size.
std::string option_name(std::string_view key);

// Adds the option of a field (config/field.h), which writes into `value`. The help has the range of
// a number if `shows_range`.
template <typename Value>
CLI::Option* add_field(CLI::App& command, const auto& field, Value& value,
                       bool shows_range = true) {
  const auto name = option_name(field.name);
  const auto help = full_help(field.readers, field.help);
  if constexpr (std::same_as<Value, bool>) {
    return command.add_flag(name, value, help);
  } else if constexpr (std::same_as<Value, std::string>) {
    return add_file(command, name, value, help);
  } else if constexpr (Choice<Value>) {
    // CLI11 reads the number of an enum.
    const auto to_number = [](std::string& text) -> std::string {
      const auto choice = find_choice<Value>(text);
      if (!choice) return unknown_choice<Value>(text);
      text = std::to_string(static_cast<int>(*choice));
      return {};
    };
    return command.add_option(name, value, help)
        ->transform(CLI::Validator(to_number, ""))
        ->type_name(fmt::format("{}", fmt::join(enum_names(Value{}), "|")));
  } else {
    const auto [min, max] = field.range;
    CLI::Validator range;
    if constexpr (std::integral<Value>) {
      const auto last =
          std::isinf(max) ? std::numeric_limits<Value>::max() : static_cast<Value>(max);
      range = whole_number(static_cast<std::uint64_t>(std::max(min, 0.0)),
                           static_cast<std::uint64_t>(last));
    } else {
      range = real_number(min, max);
    }
    if (!shows_range) range.description("");
    return add_number(command, name, value, help, range);
  }
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
