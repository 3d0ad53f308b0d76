#include "answers/answers.h"

#include <filesystem>
#include <iostream>

#include "base/file.h"
#include "base/owned_files.h"
#include "cli/completions.h"
#include "config/docs.h"

namespace regard {
namespace {

bool run(const CommandLine& given) {
  switch (given.verb) {
    case Verb::config_init:
      init_config(given.config_init);
      return true;
    case Verb::config_convert:
      convert_config(given.config_convert);
      return true;
    case Verb::config_docs:
      print(options_markdown());
      return true;
    case Verb::config_schema:
      print(options_schema());
      return true;
    case Verb::completions:
      print(completions(given.outline(), given.completions.shell));
      return true;
    case Verb::man:
      print_manual(given.outline(), given.man);
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<ExitCode> answer(const CommandLine& given) {
  return run(given) ? std::optional(ExitCode::ok) : std::nullopt;
}

void print(std::string_view text) {
  if (!(std::cout << text).flush()) {
    throw EnvironmentError("standard output: cannot be written");
  }
}

void print_to(const std::string& path, std::string_view text) {
  if (is_standard_stream(path)) return print(text);
  write_file(path, text);
}

void refuse_existing(const std::string& path) {
  std::error_code ignored;
  if (is_standard_stream(path)) return;
  refuse_owned_file(path);
  if (!std::filesystem::exists(path, ignored)) return;
  throw ConfigError("{}: is there already; give -o another name", path);
}

}  // namespace regard
