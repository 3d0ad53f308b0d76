#include "cli/translate_arguments.h"

namespace regard {

CLI::App* add_translate(CLI::App& program, TranslateArguments& arguments) {
  auto* command = program.add_subcommand("translate", "Translate text, line by line");
  auto* model = add_model_options(*command, arguments.model)->required();
  command
      ->add_option("-i,--input", arguments.input,
                   "text to translate, plain or .gz; standard input when not given")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", arguments.output,
                   "where translations go, complete or not at all; standard output when not "
                   "given")
      ->type_name("FILE");
  command
      ->add_option("--n-best", arguments.n_best,
                   "print the N best translations of each line, in the format of Moses")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  command
      ->add_option("--alignments", arguments.alignments,
                   "write word alignments, from attention, in Pharaoh's format")
      ->type_name("FILE");
  command
      ->add_option("--picture", arguments.picture,
                   "draw the attention: all sentences as .html, or the first as .svg")
      ->type_name("FILE");
  command
      ->add_flag("--explain", arguments.explain,
                 "print each step in numbers in place of the translation: query, scores, weights, "
                 "context")
      ->excludes("--n-best");
  add_search_options(*command, model, arguments.search);
  return command;
}

}  // namespace regard
