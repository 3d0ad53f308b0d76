#include "cli/search_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "base/suggest.h"
#include "cli/numbers.h"

namespace regard {
namespace {

constexpr std::string_view training_only = "validation_beam_size";

std::string flag_of(std::string_view key) {
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
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

template <Choice Value>
std::string wrong_choice(const std::string& input) {
  Value value{};
  if (read_choice(input, value)) return {};
  const auto names = enum_names(value);
  const auto near = nearest(input, {names.begin(), names.end()});
  return fmt::format("found `{}`, wanted one of {}{}", input, names_of<Value>(", "),
                     near ? fmt::format("; did you mean `{}`?", *near) : "");
}

template <typename Value>
CLI::Validator wanted_as(const Range& range) {
  if constexpr (Choice<Value>) {
    return CLI::Validator([](std::string& input) { return wrong_choice<Value>(input); }, "");
  } else if constexpr (std::is_integral_v<Value>) {
    constexpr auto largest = std::numeric_limits<Value>::max();
    const auto most = std::isinf(range.max) ? largest : static_cast<Value>(range.max);
    return whole_number(static_cast<std::uint64_t>(range.min), static_cast<std::uint64_t>(most))
        .description("");
  } else {
    return real_number(range.min, range.max).description("");
  }
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
        ->transform(wanted_as<Value>(range))
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
