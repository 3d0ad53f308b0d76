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
  auto* json = command->add_flag(
      "--json", arguments.json,
      "a JSON object for each line: texts, log-probabilities, scores, each word's too");
  auto* scores =
      command
          ->add_flag("--scores", arguments.scores,
                     "before each translation its log-probability and score, with tabs between")
          ->excludes(json);
  auto* word_scores = command
                          ->add_flag("--word-scores", arguments.word_scores,
                                     "behind each translation the log-probability of each word")
                          ->excludes(json);
  command
      ->add_option("--alignments", arguments.alignments,
                   "write word alignments, from attention, in Pharaoh's format")
      ->type_name("FILE");
  command
      ->add_option("--attention-weights", arguments.attention_weights,
                   "write the weights themselves, a JSON object for each translation")
      ->type_name("FILE");
  auto* replace =
      command->add_flag("--replace-unknown", arguments.replace_unknown,
                        "in place of <unk>, the source word that the attention looks at most");
  command
      ->add_option("--dictionary", arguments.dictionary,
                   "translations of such words: a word, a tab, its translation in each line")
      ->needs(replace)
      ->type_name("FILE");
  command
      ->add_option("--split-length", arguments.split_length,
                   "translate lines of more than N words in parts, split behind the ends of "
                   "sentences where there are some, and join them")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  command
      ->add_option("--picture", arguments.picture,
                   "draw the attention: all sentences as .html, the first as .svg, or each as an "
                   ".svg in a folder, MAPS/")
      ->type_name("FILE");
  command
      ->add_option("--prefixes", arguments.prefixes,
                   "what each line's translation begins with; an empty line asks nothing")
      ->type_name("FILE");
  command
      ->add_option("--demand", arguments.demand,
                   "phrases that each line's translation must have, with tabs between them")
      ->type_name("FILE");
  command
      ->add_option("--ban", arguments.ban,
                   "phrases that each line's translation must not have, with tabs between them")
      ->type_name("FILE");
  command
      ->add_option("--report", arguments.report,
                   "write an .html page to look inside: attention by head and layer, alignments, "
                   "n-best lists, the tree of the beam search")
      ->type_name("FILE");
  auto* shown = command
                    ->add_flag("--show-attention", arguments.show_attention,
                               "draw the attention in the terminal, under each translation")
                    ->excludes("--n-best");
  command
      ->add_flag("--explain", arguments.explain,
                 "print each step in numbers in place of the translation: query, scores, weights, "
                 "context")
      ->excludes("--n-best")
      ->excludes(shown)
      ->excludes(json)
      ->excludes(scores)
      ->excludes(word_scores);
  add_search_options(*command, model, arguments.search);
  return command;
}

}  // namespace regard
