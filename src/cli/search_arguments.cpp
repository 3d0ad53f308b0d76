#include "cli/search_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

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

template <typename Number>
CLI::Validator number_in(const Range& range) {
  const std::string kind = std::is_integral_v<Number> ? "a whole number" : "a number";
  const auto check = [=](const std::string& input) -> std::string {
    Number value{};
    if (CLI::detail::lexical_cast(input, value) && static_cast<double>(value) >= range.min &&
        static_cast<double>(value) <= range.max) {
      return {};
    }
    return fmt::format("found `{}`, wanted {} {}", input, kind, text_of(range));
  };
  return CLI::Validator(check, "");
}

}  // namespace

void add_search_options(CLI::App& command, CLI::Option* model, SearchArguments& arguments) {
  arguments.command = &command;
  TestingOptions defaults;
  describe(defaults, [&]<typename Number>(std::string_view key, const Number&,
                                          std::string_view help, Range range = {}) {
    if (key == training_only) return;
    const std::string text(help);
    command.add_option(flag_of(key), text)
        ->needs(model)
        ->expected(1)
        ->check(number_in<Number>(range))
        ->type_name("N")
        ->group("Search (as in the model's configuration unless given)");
  });
}

TestingOptions SearchArguments::over(TestingOptions options) const {
  describe(options,
           [&]<typename Number>(std::string_view key, Number& value, std::string_view, Range = {}) {
             const auto* option = command->get_option_no_throw(flag_of(key));
             if (option != nullptr && option->count() > 0) value = option->as<Number>();
           });
  return options;
}

}  // namespace regard
