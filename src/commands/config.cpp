// regard config print: prints the resolved configuration.
#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "base/version.h"
#include "commands/commands.h"
#include "commands/output_file.h"
#include "config/check.h"
#include "config/reader.h"
#include "config/writer.h"
#include "model/build_model.h"

namespace regard {
ExitCode print_config(const ConfigArguments& arguments) {
  SourceLocations locations;
  const auto options = arguments.config.empty()
                           ? parse_options("", "defaults", arguments.overrides, &locations)
                           : read_options(arguments.config, arguments.overrides, &locations);
  check_options(options, locations);
  check_model_to_train(options, locations);
  auto text = write_options(options, arguments.help_comments ? Comments::help : Comments::none);
  if (arguments.help_comments) text = fmt::format("# docs/ is {}.\n", docs_folder()) + text;
  write_output("", text);
  return ExitCode::ok;
}

}  // namespace regard
