// regard config print: the configuration as it is understood.
#include <string>

#include "base/error.h"
#include "commands/commands.h"
#include "commands/output_file.h"
#include "config/check.h"
#include "config/reader.h"
#include "config/writer.h"
#include "model/attention/table.h"
#include "model/output/table.h"

namespace regard {
ExitCode print_config(const ConfigArguments& arguments) {
  Origins origins;
  const auto options = arguments.config.empty()
                           ? parse_options("", "defaults", arguments.overrides, &origins)
                           : read_options(arguments.config, arguments.overrides, &origins);
  check_options(options, origins);
  check_attention(options.model, origins);
  check_attention_lengths(options, origins);
  check_output(options.model, origins);
  OutputFile output("");
  output.write(write_options(options, arguments.help_comments ? Comments::help : Comments::none));
  output.commit();
  return ExitCode::ok;
}

}  // namespace regard
