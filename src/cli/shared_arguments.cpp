// The options that several commands share (the model, the device and the search), and the
// validators of numbers.
#include "cli/arguments.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "base/suggest.h"
#include "cli/option_helpers.h"

namespace regard {
namespace {

// Returns a validator for numbers from `min` to `max`. Error messages call the value `noun`, such
// as "a whole number". Help and manual pages show the range as "`type` in [min - max]", which
// cli/outline.cpp parses. With `no_max`, messages omit `max` and help omits the range.
template <typename Value>
CLI::Validator number_in_range(const std::string& noun, const std::string& type, Value min,
                               Value max, bool no_max) {
  const auto range =
      no_max ? fmt::format("at least {}", min) : fmt::format("from {} to {}", min, max);
  const auto description = no_max ? "" : fmt::format("{} in [{} - {}]", type, min, max);
  const auto check = [=](std::string& text) -> std::string {
    const auto value = parse_number<Value>(text);
    if (!value || !std::isfinite(static_cast<double>(*value)) || *value < min || *value > max) {
      return fmt::format("found `{}`, expected {} {}", text, noun, range);
    }
    text = fmt::format("{}", *value);  // remove leading zeros, which CLI11 reads as octal
    return {};
  };
  return CLI::Validator(check, description);
}

}  // namespace

CLI::Validator whole_number(std::uint64_t min, std::uint64_t max) {
  return number_in_range(
      "a whole number", "INT", min, max,
      max >= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

CLI::Validator real_number(double min, double max) {
  return number_in_range("a number", "FLOAT", min, max, std::isinf(max));
}

CLI::Validator one_of(const std::string& choices) {
  const auto check = [choices](const std::string& text) -> std::string {
    const auto parts = split(choices, '|');
    const std::vector<std::string> names(parts.begin(), parts.end());
    if (std::ranges::count(names, text) > 0) return {};
    return fmt::format("found `{}`, expected one of {}{}", text, fmt::join(names, ", "),
                       did_you_mean(text, names));
  };
  return CLI::Validator(check, "");
}

namespace {

// A key of `search` that has no option, because only training uses it.
constexpr std::string_view validation_key = "validation_beam_size";

}  // namespace

std::string option_name(std::string_view key) {
  std::string name = "--" + std::string(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

void add_shortlist_options(CLI::App& command, CLI::Option* model, ShortlistOptions& options) {
  const HelpGroup group(command, "Shortlist");
  auto* file = add_file(command, "--shortlist", options.file,
                        "choose only among the likely target tokens of each sentence, by "
                        "this file of `regard shortlist`");
  if (!model->get_required()) file->needs(model);
  add_number(command, "--shortlist-frequent", options.frequent,
             "number of most frequent target tokens in every shortlist (default 100)",
             whole_number(0, 1'000'000))
      ->needs(file);
  add_number(command, "--shortlist-best", options.best,
             "number of most probable target tokens of each source token (default 100)",
             whole_number(1, 1'000'000))
      ->needs(file);
}

void add_search_options(CLI::App& command, CLI::Option* model, SearchArguments& arguments) {
  arguments.command = &command;
  const HelpGroup group(command, "Search (default: the model's configuration)");
  for_each_field(
      [&](const auto& field, auto& value) {
        if (field.name == validation_key) return;
        auto* option = add_field(command, field, value, /*shows_range=*/false);
        if (!model->get_required()) option->needs(model);
      },
      arguments.values);
}

SearchOptions SearchArguments::apply_to(SearchOptions options) const {
  for_each_field(
      [&](const auto& field, auto& value, const auto& given) {
        const auto* option = command->get_option_no_throw(option_name(field.name));
        if (option != nullptr && option->count() > 0) value = given;
      },
      options, values);
  return options;
}

void add_device_options(CLI::App& command, ModelArguments& arguments) {
  command
      .add_option("--device", arguments.device,
                  "device to run on; auto is cuda:0 if available, else cpu; also cuda:N")
      ->type_name("auto|cpu|cuda");
  add_threads(command, arguments.threads);
}

void add_precision_option(CLI::App& command, ModelArguments& arguments) {
  add_choice(command, "--precision", arguments.precision,
             "precision of the factors of matrix products; auto is bf16 on processors and tf32 "
             "on GPUs that have it, else fp32",
             "auto|fp32|tf32|bf16|int8");
}

CLI::Option* add_model_options(CLI::App& command, ModelArguments& arguments) {
  add_device_options(command, arguments);
  add_precision_option(command, arguments);
  auto* model = command
                    .add_option("-m,--model", arguments.models,
                                "a run folder (its best model, else its last) or a model folder; "
                                "several models with the same vocabularies are an ensemble")
                    ->type_name("MODEL");
  add_choice(command, "--ensemble-mean", arguments.ensemble_mean,
             "how to average an ensemble: log_linear averages log-probabilities (default), "
             "linear averages probabilities",
             "log_linear|linear")
      ->needs(model);
  add_number(command, "--ensemble-weights", arguments.ensemble_weights,
             "weight of each model of an ensemble, above 0 (default: equal weights)",
             real_number(0))
      ->needs(model)
      ->delimiter(',');
  auto* language_model =
      command
          .add_option("--lm", arguments.language_model,
                      "a language model of the target side, with the same vocabulary, whose "
                      "probabilities are multiplied in (shallow fusion)")
          ->needs(model)
          ->type_name("MODEL");
  add_number(command, "--lm-weight", arguments.language_model_weight,
             "weight of the log-probabilities of --lm (default 0.2)", real_number(0))
      ->needs(language_model);
  add_tag_options(command, model, arguments.tags);
  return model;
}

void add_tag_options(CLI::App& command, CLI::Option* model, ModelTags& tags,
                     const std::string& begin) {
  const auto of_model = begin == reverse_tag_options ? "a model of --reverse" : "the model";
  command
      .add_option(begin + "src-tag", tags.source,
                  fmt::format("a user symbol of {} to put before each source line, such as <2de>",
                              of_model))
      ->needs(model)
      ->type_name("TAG");
  command
      .add_option(begin + "trg-tag", tags.target,
                  fmt::format("a user symbol of {} with which the decoder begins, in place of <s>",
                              of_model))
      ->needs(model)
      ->type_name("TAG");
}

}  // namespace regard
