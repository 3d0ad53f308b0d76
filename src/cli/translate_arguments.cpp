#include "cli/translate_arguments.h"

#include "cli/numbers.h"

#include <string>
#include <vector>

namespace regard {
namespace {

// Adds options that name a file, all in one group of the help.
struct FileOptions {
  CLI::App& command;
  std::string group;

  void operator()(const std::string& name, std::string& path, const std::string& help) const {
    command.add_option(name, path, help)->type_name("FILE")->group(group);
  }
};

// The options that choose another form of what is printed.
using Forms = std::vector<CLI::Option*>;

Forms add_forms(CLI::App& command, TranslateArguments& arguments) {
  const std::string group = "What is printed of each line";
  auto* n_best = command
                     .add_option("--n-best", arguments.n_best,
                                 "the N best translations, in the format of Moses")
                     ->transform(whole_number(1, 1000))
                     ->type_name("N")
                     ->group(group);
  auto* json = command
                   .add_flag("--json", arguments.json,
                             "a JSON object: texts, log-probabilities, scores, each word's too")
                   ->group(group);
  auto* scores =
      command
          .add_flag("--scores", arguments.scores,
                    "before the translation its log-probability and score, with tabs between")
          ->excludes(json)
          ->group(group);
  auto* word_scores = command
                          .add_flag("--word-scores", arguments.word_scores,
                                    "behind the translation the log-probability of each word")
                          ->excludes(json)
                          ->group(group);
  return {n_best, json, scores, word_scores};
}

void add_attention_options(CLI::App& command, TranslateArguments& arguments, const Forms& forms) {
  const std::string group = "Attention, to look at and to work with";
  const FileOptions add_file{command, group};
  add_file("--alignments", arguments.alignments, "write word alignments, in Pharaoh's format");
  add_file("--attention-weights", arguments.attention_weights,
           "write the weights themselves, a JSON object for each translation");
  add_file("--picture", arguments.picture,
           "draw the attention: all sentences as .html, the first as .svg, or each as an .svg in a "
           "folder, MAPS/");
  add_file("--report", arguments.report,
           "write an .html page to look inside: attention by head and layer, alignments, n-best "
           "lists, the tree of the beam search");
  auto* shown = command
                    .add_flag("--show-attention", arguments.show_attention,
                              "draw the attention in the terminal, under each translation")
                    ->group(group);
  command
      .add_option(
          "--attention-scale", arguments.attention_scale,
          "which weight is drawn white in --picture, --show-attention and --report: 1 (as it "
          "is unless given), the largest of the picture, or of each row")
      ->type_name("absolute|picture|row")
      ->group(group);
  auto* explained =
      command
          .add_flag("--explain", arguments.explain,
                    "print each step in numbers in place of the translation: query, scores, "
                    "weights, context")
          ->excludes(shown)
          ->group(group);
  for (auto* form : forms) {
    shown->excludes(form);
    explained->excludes(form);
  }
}

void add_line_options(CLI::App& command, TranslateArguments& arguments) {
  const std::string group = "What single lines ask for (line i of FILE, of line i of the input)";
  const FileOptions add_file{command, group};
  add_file("--prefixes", arguments.prefixes, "what the translation begins with");
  add_file("--demand", arguments.demand,
           "phrases that the translation must have, with tabs between them");
  add_file("--ban", arguments.ban,
           "phrases that the translation must not have, with tabs between them");
}

}  // namespace

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
      ->transform(whole_number(1, 1000000))
      ->type_name("N");
  add_attention_options(*command, arguments, add_forms(*command, arguments));
  add_line_options(*command, arguments);
  add_search_options(*command, model, arguments.search);
  return command;
}

}  // namespace regard
