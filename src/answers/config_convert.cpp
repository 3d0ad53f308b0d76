// regard config convert: a configuration of JoeyNMT's as one of regard's.
#include "answers/answers.h"
#include "base/file.h"
#include "base/log.h"
#include "config/joeynmt.h"

namespace regard {

void convert_config(const ConfigConvertArguments& arguments) {
  refuse_existing(arguments.output);
  const auto text = read_file<ConfigError>(arguments.input, "configuration", std::size_t{1} << 20);
  const auto converted = convert_joeynmt(text, arguments.input);
  print_to(arguments.output, converted.yaml);
  for (const auto& note : converted.notes) log::warning("{}", note);
}

}  // namespace regard
