// The command synthesize.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>

namespace regard {
namespace {

void add_filters(CLI::App& command, SynthesizeArguments& arguments) {
  const std::string group = "Filters (lengths are in tokens of the model)";
  command
      .add_option("--min-score", arguments.min_score,
                  "drop translations with a log-probability per token below this, such as -2")
      ->transform(real_number(-1000, 0))
      ->type_name("N")
      ->group(group);
  command
      .add_option("--max-ratio", arguments.max_ratio,
                  "drop pairs with a side more than N times as long as the other; 0 is off "
                  "(default: data.max_ratio of the model)")
      ->transform(real_number(0))
      ->type_name("N")
      ->group(group);
  command
      .add_option("--min-length", arguments.min_length,
                  "drop pairs with fewer tokens than this on either side")
      ->transform(whole_number(0, 1'000'000))
      ->type_name("N")
      ->group(group);
  command
      .add_option("--max-length", arguments.max_length,
                  "drop pairs with more tokens than this on either side; longer lines are not "
                  "translated; 0 is off (default: data.max_length of the model)")
      ->transform(whole_number(0, 1'000'000))
      ->type_name("N")
      ->group(group);
  command
      .add_flag("--keep-unfinished", arguments.keep_unfinished,
                "keep translations that were cut off at the maximum length")
      ->group(group);
  command
      .add_flag("--keep-copies", arguments.keep_copies,
                "keep translations that are equal to their line")
      ->group(group);
  command
      .add_flag("--keep-duplicates", arguments.keep_duplicates,
                "keep pairs that are equal to an earlier one")
      ->group(group);
}

}  // namespace

CLI::App* add_synthesize(CLI::App& program, SynthesizeArguments& arguments) {
  auto* command = program.add_subcommand("synthesize",
                                         "Make training pairs from text without translations: "
                                         "back-translation, self-training, distillation");
  command->alias("backtranslate");
  auto* model = add_model_options(*command, arguments.model)->required();
  command
      ->add_option("-i,--input", arguments.input,
                   "text to translate, one sentence per line, plain or compressed")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "-o,--output", arguments.output,
          "name of the output: FILE.src and FILE.trg have the pairs, and appear only when "
          "complete; FILE.json says how they were made. The same command goes on after a kill")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "--side", arguments.side,
          "side of the new pairs that is the translation: source, by a model of the opposite "
          "direction (back-translation, default), or target (self-training, distillation)")
      ->type_name("source|target");
  command
      ->add_option("--tag", arguments.tag,
                   "put this text and a space in front of each source line, such as '<bt>'")
      ->type_name("TAG");
  command->add_flag("--fresh", arguments.fresh, "replace an existing output, and start over");
  add_filters(*command, arguments);
  add_shortlist_options(*command, model, arguments.shortlist);
  add_search_options(*command, model, arguments.search);
  return command;
}

}  // namespace regard
