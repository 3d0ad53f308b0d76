#include "cli/search_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/suggest.h"

namespace regard {
namespace {

constexpr std::string_view training_only = "validation_beam_size";

std::string flag_of(std::string_view key) {
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string text_of(const Range& range) {
  if (std::isinf(range.max)) return fmt::format("at least {}", range.min);
  return fmt::format("from {} to {}", range.min, range.max);
}

template <Choice Value>
std::string names_of(std::string_view separator) {
  return fmt::format("{}", fmt::join(enum_names(Value{}), separator));
}

// False when there is no such choice.
template <Choice Value>
bool read_choice(std::string_view name, Value& value) {
  const auto names = enum_names(value);
  const auto place = std::find(names.begin(), names.end(), name);
  if (place != names.end()) value = static_cast<Value>(place - names.begin());
  return place != names.end();
}

template <typename Value>
CLI::Validator wanted_as(const Range& range) {
  const auto check = [=](const std::string& input) -> std::string {
    Value value{};
    if constexpr (Choice<Value>) {
      if (read_choice(input, value)) return {};
      const auto names = enum_names(value);
      const auto near = nearest(input, {names.begin(), names.end()});
      return fmt::format("found `{}`, wanted one of {}{}", input, names_of<Value>(", "),
                         near ? fmt::format("; did you mean `{}`?", *near) : "");
    } else {
      const std::string kind = std::is_integral_v<Value> ? "a whole number" : "a number";
      if (CLI::detail::lexical_cast(input, value) && static_cast<double>(value) >= range.min &&
          static_cast<double>(value) <= range.max) {
        return {};
      }
      return fmt::format("found `{}`, wanted {} {}", input, kind, text_of(range));
    }
  };
  return CLI::Validator(check, "");
}

template <typename Value>
std::string type_name() {
  if constexpr (Choice<Value>) return names_of<Value>("|");
  return "N";
}

template <typename Value>
Value given(const CLI::Option& option) {
  if constexpr (Choice<Value>) {
    Value value{};
    read_choice(option.as<std::string>(), value);
    return value;
  } else {
    return option.as<Value>();
  }
}

}  // namespace

void add_search_options(CLI::App& command, CLI::Option* model, SearchArguments& arguments) {
  arguments.command = &command;
  TestingOptions defaults;
  describe(defaults, [&]<typename Value>(std::string_view key, const Value&, std::string_view help,
                                         Range range = {}) {
    if (key == training_only) return;
    const std::string text(help);
    auto* option = command.add_option(flag_of(key), text);
    if (!model->get_required()) option->needs(model);
    option->expected(1)
        ->check(wanted_as<Value>(range))
        ->type_name(type_name<Value>())
        ->group("Search (as in the model's configuration unless given)");
  });
}

TestingOptions SearchArguments::over(TestingOptions options) const {
  describe(options,
           [&]<typename Value>(std::string_view key, Value& value, std::string_view, Range = {}) {
             const auto* option = command->get_option_no_throw(flag_of(key));
             if (option != nullptr && option->count() > 0) value = given<Value>(*option);
           });
  return options;
}

}  // namespace regard
