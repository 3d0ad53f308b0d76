// regard config convert: a configuration of JoeyNMT's as one of regard's.
#include <utility>

#include "answers/answers.h"
#include "base/file.h"
#include "base/log.h"
#include "config/joeynmt.h"
#include "config/reader.h"

namespace regard {

namespace {

// The files that the converted configuration names are looked for from here, as a training would.
void warn_of_missing_models(const std::string& yaml) {
  TokenizerOptions tokenizer;
  try {
    tokenizer = parse_options(yaml, "converted").data.tokenizer;
  } catch (const ConfigError&) {
    return;  // a note says what is to be mended
  }
  for (const auto& [key, path] :
       {std::pair{"src_file", tokenizer.src_file}, {"trg_file", tokenizer.trg_file}}) {
    if (path.empty() || is_file(path)) continue;
    log::warning(
        "data.tokenizer.{}: {}: no such file from here; without the key a vocabulary is trained",
        key, path);
  }
}

}  // namespace

void convert_config(const ConfigConvertArguments& arguments) {
  refuse_existing(arguments.output);
  const auto text = read_file<ConfigError>(arguments.input, "configuration", std::size_t{1} << 20);
  const auto converted = convert_joeynmt(text, arguments.input);
  print_to(arguments.output, converted.yaml);
  warn_of_missing_models(converted.yaml);
  for (const auto& note : converted.notes) log::warning("{}", note);
}

}  // namespace regard
