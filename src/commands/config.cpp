// regard config: the configuration as it is understood, and the pages about its keys.
#include <string>

#include "base/error.h"
#include "commands/commands.h"
#include "commands/output_file.h"
#include "config/check.h"
#include "config/docs.h"
#include "config/reader.h"
#include "config/writer.h"
#include "model/attention/table.h"
#include "model/output/table.h"

namespace regard {
namespace {

void print(const std::string& text) {
  OutputFile output("");
  output.write(text);
  output.commit();
}

}  // namespace

ExitCode print_config(const ConfigArguments& arguments) {
  Origins origins;
  const auto options = arguments.config.empty()
                           ? parse_options("", "defaults", arguments.overrides, &origins)
                           : read_options(arguments.config, arguments.overrides, &origins);
  check_options(options, origins);
  check_attention(options.model, origins);
  check_output(options.model, origins);
  print(write_options(options, arguments.help_comments ? Comments::help : Comments::none));
  return ExitCode::ok;
}

ExitCode print_config_docs() {
  print(options_markdown());
  return ExitCode::ok;
}

ExitCode print_config_schema() {
  print(options_schema());
  return ExitCode::ok;
}

}  // namespace regard
