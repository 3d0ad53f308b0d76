// The command translate.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace regard {
namespace {

// Adds an option with a file as its value to a command, in one group of its help.
struct FileOptions {
  CLI::App& command;
  std::string group;

  void operator()(const std::string& name, std::string& path, const std::string& help) const {
    command.add_option(name, path, help)->type_name("FILE")->group(group);
  }
};

// Options that change the output format, and exclude others that do.
using Formats = std::vector<CLI::Option*>;

Formats add_formats(CLI::App& command, TranslateArguments& arguments) {
  const std::string group = "Output of each line";
  auto* n_best = command
                     .add_option("--n-best", arguments.n_best,
                                 "print the N best translations, in Moses format")
                     ->transform(whole_number(1, 1000))
                     ->type_name("N")
                     ->group(group);
  auto* json =
      command
          .add_flag("--json", arguments.json,
                    "print a JSON object: texts, log-probabilities and scores, also of each word")
          ->group(group);
  auto* scores =
      command
          .add_flag("--scores", arguments.scores,
                    "print log-probability and score before the translation, separated by tabs")
          ->excludes(json)
          ->group(group);
  auto* word_scores = command
                          .add_flag("--word-scores", arguments.word_scores,
                                    "print the log-probability of each word after the translation")
                          ->excludes(json)
                          ->group(group);
  return {n_best, json, scores, word_scores};
}

void add_attention_options(CLI::App& command, TranslateArguments& arguments,
                           const Formats& formats) {
  const std::string group = "Attention";
  const FileOptions add_file{command, group};
  add_file("--alignments", arguments.alignments, "write word alignments, in Pharaoh format");
  add_file("--attention-weights", arguments.attention_weights,
           "write the attention weights, a JSON object for each translation");
  add_file("--picture", arguments.picture,
           "draw the attention: .html for the first 50 sentences, .svg for the first, or a folder "
           "MAPS/ with an .svg for each");
  add_file("--report", arguments.report,
           "write an .html page with attention by head and layer, alignments, n-best lists and the "
           "tree of the beam search");
  command
      .add_option("--attention-map", arguments.attention_map,
                  "attention in --attention-weights, --picture and --show-attention: to the source "
                  "(default), or the self-attention of the encoder or the decoder; several are "
                  "separated by commas")
      ->delimiter(',')
      ->type_name("source|encoder|decoder")
      ->group(group);
  command
      .add_option("--attention-layer", arguments.attention_layer,
                  "draw the heads of this layer, from 1 (default: the mean over those of the last)")
      ->transform(whole_number(1, 1000))
      ->type_name("N")
      ->group(group);
  command
      .add_option("--attention-head", arguments.attention_head,
                  "draw this head, from 1, of the layer (default: the last layer)")
      ->transform(whole_number(1, 1000))
      ->type_name("N")
      ->group(group);
  auto* show = command
                   .add_flag("--show-attention", arguments.show_attention,
                             "draw the attention in the terminal, under each translation")
                   ->group(group);
  command
      .add_option("--attention-scale", arguments.attention_scale,
                  "weight drawn in white by --picture, --show-attention and --report: 1 (default), "
                  "the largest of the picture, or the largest of each row")
      ->type_name("absolute|picture|row")
      ->group(group);
  auto* explain = command
                      .add_flag("--explain", arguments.explain,
                                "print the numbers of each step instead of the translation: query, "
                                "scores, weights, context")
                      ->excludes(show)
                      ->group(group);
  for (auto* format : formats) {
    show->excludes(format);
    explain->excludes(format);
  }
}

void add_line_options(CLI::App& command, TranslateArguments& arguments) {
  const std::string group =
      "Constraints for each line (line i of FILE belongs to line i of the input)";
  const FileOptions add_file{command, group};
  add_file("--prefixes", arguments.prefixes, "beginning of the translation");
  add_file("--demand", arguments.demand,
           "phrases that the translation must contain, separated by tabs");
  add_file("--ban", arguments.ban,
           "phrases that the translation must not contain, separated by tabs");
}

}  // namespace

CLI::App* add_translate(CLI::App& program, TranslateArguments& arguments) {
  auto* command = program.add_subcommand("translate", "Translate text, line by line");
  auto* model = add_model_options(*command, arguments.model)->required();
  command
      ->add_option("-i,--input", arguments.input,
                   "text to translate, plain or .gz (default: standard input)")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", arguments.output,
                   "output file, written only when complete (default: standard output)")
      ->type_name("FILE");
  auto* replace =
      command->add_flag("--replace-unknown", arguments.replace_unknown,
                        "replace <unk> by the source word with the largest attention weight");
  command
      ->add_option("--dictionary", arguments.dictionary,
                   "translations of these words: word, tab, translation in each line")
      ->needs(replace)
      ->type_name("FILE");
  command
      ->add_option("--split-length", arguments.split_length,
                   "split lines of more than N words into parts of at most N, after a sentence if "
                   "it is long enough, and join the translations")
      ->transform(whole_number(1, 1000000))
      ->type_name("N");
  add_attention_options(*command, arguments, add_formats(*command, arguments));
  add_line_options(*command, arguments);
  add_shortlist_options(*command, model, arguments.shortlist);
  for (const auto* shows_all : {"--explain", "--report"}) {
    command->get_option(shows_all)->excludes(command->get_option("--shortlist"));
  }
  add_search_options(*command, model, arguments.search);
  return command;
}

}  // namespace regard
