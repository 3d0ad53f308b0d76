// The command synthesize.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include "cli/option_helpers.h"

namespace regard {
namespace {

void add_filters(CLI::App& command, SynthesizeArguments& arguments) {
  const HelpGroup group(command, "Filters (lengths are in tokens of the model)");
  add_number(command, "--min-score", arguments.min_score,
             "drop translations with a log-probability per token below this, such as -2",
             real_number(-1000, 0));
  add_number(command, "--max-ratio", arguments.max_ratio,
             "drop pairs with a side more than N times as long as the other; 0 is off "
             "(default: data.max_ratio of the model)",
             real_number(0));
  add_number(command, "--min-length", arguments.min_length,
             "drop pairs with fewer tokens than this on either side", whole_number(0, 1'000'000));
  add_number(command, "--max-length", arguments.max_length,
             "drop pairs with more tokens than this on either side; longer lines are not "
             "translated; 0 is off (default: data.max_length of the model)",
             whole_number(0, 1'000'000));
  command.add_flag("--keep-unfinished", arguments.keep_unfinished,
                   "keep translations that were cut off at the maximum length");
  command.add_flag("--keep-copies", arguments.keep_copies,
                   "keep translations that are equal to their line");
  command.add_flag("--keep-duplicates", arguments.keep_duplicates,
                   "keep pairs that are equal to an earlier one");
}

}  // namespace

CLI::App* add_synthesize(CLI::App& program, SynthesizeArguments& arguments) {
  auto* command = program.add_subcommand("synthesize",
                                         "Make training pairs from text without translations: "
                                         "back-translation, self-training, distillation");
  auto* model = add_model_options(*command, arguments.model)->required();
  add_file(*command, "-i,--input", arguments.input,
           "text to translate, one sentence per line, plain or compressed")
      ->required();
  add_file(*command, "-o,--output", arguments.output,
           "name of the output: FILE.src and FILE.trg have the pairs, and appear only when "
           "complete; FILE.json says how they were made. The same command goes on after a kill")
      ->required();
  add_choice(*command, "--side", arguments.side,
             "side of the new pairs that is the translation: source, by a model of the opposite "
             "direction (back-translation, default), or target (self-training, distillation)",
             "source|target");
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
