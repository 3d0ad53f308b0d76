// The command serve.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include "cli/option_helpers.h"

namespace regard {

CLI::App* add_serve(CLI::App& program, ServeArguments& arguments) {
  auto* command = program.add_subcommand(
      "serve", "Translate for other programs and for people, by HTTP and on a web page");
  auto* model = command
                    ->add_option("-m,--model", arguments.models,
                                 "a model to serve: a run folder (its best model, else its last) "
                                 "or a model folder; NAME= before it names it, with the "
                                 "characters A-Z a-z 0-9 . _ ~ - (default: the name of the "
                                 "folder); the first one is the default of requests")
                    ->required()
                    ->type_name("[NAME=]MODEL");
  command
      ->add_option("--glossary", arguments.glossaries,
                   "terms with the translations that they must have, for all models or for the one "
                   "that NAME= names; may be repeated")
      ->allow_extra_args(false)
      ->type_name("[NAME=]FILE");
  command->add_option("--host", arguments.host, "address to listen on (default 127.0.0.1)")
      ->type_name("ADDRESS");
  add_number(*command, "--port", arguments.port, "port to listen on; 0 is any (default 8080)",
             whole_number(0, 65535));
  command
      ->add_option("--host-name", arguments.host_names,
                   "a name by which clients may address the server, beside localhost and addresses "
                   "in numbers; * is any; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command
      ->add_option("--allow-origin", arguments.allowed_origins,
                   "origin of another site whose pages may send requests, such as "
                   "https://example.org; * is any; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ORIGIN");
  add_file(*command, "--token-file", arguments.token_file,
           "file whose first line is a token; requests must have `Authorization: Bearer TOKEN`");
  command->add_flag("--log-text", arguments.log_text,
                    "write the texts of requests into the log too");

  const auto add = [&](const std::string& name, std::int64_t& value, std::uint64_t min,
                       const std::string& help) {
    add_number(*command, name, value, help, whole_number(min, 1'000'000'000))->group("Limits");
  };
  add("--max-connections", arguments.max_connections, 1,
      "open connections; the oldest that waits gives way to a new one, and if none waits the new "
      "one gets status 503 (default 1024)");
  add("--max-waiting", arguments.max_waiting, 1,
      "sentences of a model that wait or are being translated; more are refused with status 429 "
      "(default 2000)");
  add("--max-lines", arguments.max_lines, 1, "lines of a request (default 1000)");
  add("--max-characters", arguments.max_characters, 1, "bytes of a line (default 10000)");
  add("--max-beam-size", arguments.max_beam_size, 1,
      "beam_size or samples of a request (default 20)");
  add("--request-memory", arguments.request_memory, 1,
      "megabytes of a request and its answer; more is refused with status 413 (default 64)");
  add("--max-memory", arguments.max_memory, 1,
      "megabytes of all requests and their answers; more is refused with status 429 (default 512)");
  add("--timeout", arguments.timeout, 1, "seconds that a request may take (default 60)");
  add("--receive-timeout", arguments.receive_timeout, 1,
      "seconds in which a client must have sent its request, and for which it may take nothing of "
      "an answer (default 10)");
  add("--stop-timeout", arguments.stop_timeout, 0,
      "seconds in which the requests in progress may end when the server is stopped (default 30)");

  command
      ->add_option("--src-tag", arguments.device.tags.source,
                   "a user symbol of the models to put before each source line, such as <2de>, "
                   "unless a request names another")
      ->type_name("TAG");
  command
      ->add_option("--trg-tag", arguments.device.tags.target,
                   "a user symbol of the models with which the decoder begins, in place of <s>, "
                   "unless a request names another")
      ->type_name("TAG");
  add_device_options(*command, arguments.device);
  add_precision_option(*command, arguments.device);
  add_search_options(*command, model, arguments.search);
  return command;
}

}  // namespace regard
