#include "commands/without_torch.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "base/owned_files.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "cli/outline.h"
#include "commands/output_file.h"
#include "config/convert.h"
#include "config/docs.h"
#include "config/reader.h"

namespace regard {
namespace {

// Warns if a converted configuration names tokenizer models that do not exist. Relative paths start
// at the current folder.
void warn_of_missing_models(const std::string& yaml) {
  TokenizerOptions tokenizer;
  try {
    tokenizer = parse_options(yaml, "converted").data.tokenizer;
  } catch (const ConfigError&) {
    return;  // a note already reports the error
  }
  for (const auto& [key, path] :
       {std::pair{"src_file", tokenizer.src_file}, {"trg_file", tokenizer.trg_file}}) {
    if (path.empty() || is_file(path)) continue;
    log::warning("data.tokenizer.{}: {}: no such file; remove the key to train a vocabulary", key,
                 path);
  }
}

// Runs `regard config convert`: converts a configuration of another trainer.
ExitCode convert_config(const ConfigConvertArguments& arguments) {
  check_new_file(arguments.output);
  constexpr std::size_t max_bytes = 1 << 20;  // as for regard's own configurations
  const auto text = read_file<ConfigError>(arguments.input, "configuration", max_bytes);
  const auto converted = convert_configuration(text, arguments.input);
  write_output(arguments.output, converted.yaml);
  warn_of_missing_models(converted.yaml);
  for (const auto& note : converted.notes) log::warning("{}", note);
  return ExitCode::ok;
}

// Runs the Python package's program of `regard export`. Reports an import that fails.
constexpr const char* export_program = R"(import sys
try:
    from regard.exporters.__main__ import main
except ImportError as error:
    print(f"error: export: {error} (in {sys.executable}); install the Python package of regard, "
          "or name a Python that has it in REGARD_PYTHON; docs/export.md says how", file=sys.stderr)
    sys.exit(6)
main()
)";

// Replaces this process by Python, which exports the model.
ExitCode export_model(const ExportArguments& arguments) {
  const auto* set = std::getenv("REGARD_PYTHON");
  const std::string python = set && *set ? set : "python3";
  std::vector<std::string> words = {python, "-c", export_program, "--to=" + arguments.format,
                                    "--output=" + arguments.output};
  if (!arguments.quantization.empty()) words.push_back("--quantization=" + arguments.quantization);
  if (arguments.force) words.emplace_back("--force");
  words.insert(words.end(), {"--", arguments.model});
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(python.c_str(), argv.data());
  throw EnvironmentError(
      "export: {}: {}; name a Python that has the package of regard in "
      "REGARD_PYTHON",
      python, std::strerror(errno));
}

// Runs `regard man`: prints a manual page, or writes all pages to a folder.
ExitCode print_manual(const ManArguments& arguments) {
  const auto program = CommandLine().outline();
  if (!arguments.into.empty()) {
    const std::filesystem::path folder(arguments.into);
    check_output_path(folder);
    make_folder(folder);
    for (const auto& [name, page] : manual_pages(program)) write_file(folder / name, page);
    return ExitCode::ok;
  }
  const auto* command = &program;
  if (!arguments.command.empty() && arguments.command != program.name) {
    const auto found =
        std::ranges::find(program.commands, arguments.command, &CommandOutline::last_word);
    if (found == program.commands.end()) {
      std::vector<std::string> known;
      for (const auto& each : program.commands) known.push_back(each.last_word());
      throw unknown_name("command", arguments.command, known);
    }
    command = &*found;
  }
  write_output("", manual_page(program, *command));
  return ExitCode::ok;
}

// Runs `regard config docs`: plain text for a key, a section or a terminal, else Markdown.
ExitCode print_docs(const ConfigDocsArguments& arguments) {
  const auto& key = arguments.key;
  const bool is_plain = !key.empty() || isatty(STDOUT_FILENO) == 1;
  write_output("", is_plain ? text_for(STDOUT_FILENO, options_text(key)) : options_markdown());
  return ExitCode::ok;
}

ExitCode print_schema(const ConfigSchemaArguments&) {
  write_output("", options_schema());
  return ExitCode::ok;
}

ExitCode print_completions(const CompletionsArguments& arguments) {
  write_output("", completion_script(arguments.shell));
  return ExitCode::ok;
}

}  // namespace

std::optional<ExitCode> run_without_torch(const CommandLine& command_line) {
  return command_line.run(init_config, convert_config, print_docs, print_schema, export_model,
                          run_pipeline, print_completions, print_manual);
}

}  // namespace regard
