#include "cli/score_arguments.h"

#include "cli/numbers.h"

namespace regard {
namespace {

void add_alignment_options(CLI::App& command, ScoreArguments& arguments, CLI::Option* target) {
  auto* align = command
                    .add_option("--align", arguments.align,
                                "write the word alignments that the attention gives the pairs, in "
                                "Pharaoh's format")
                    ->needs(target)
                    ->type_name("FILE");
  auto* reverse = command
                      .add_option("--reverse", arguments.reverse,
                                  "a model of the opposite direction: its alignments and the "
                                  "model's are made one (--symmetrise)")
                      ->needs(align)
                      ->type_name("MODEL");
  command.add_option("--symmetrise", arguments.symmetrise, "how; grow-diag-final-and unless given")
      ->needs(reverse)
      ->type_name("grow-diag-final-and|intersection|union");
  command
      .add_option("--alignments-gold", arguments.gold,
                  "gold alignments of the pairs: the alignment error rate is reported")
      ->needs(align)
      ->type_name("FILE");
}

}  // namespace

CLI::App* add_score(CLI::App& program, ScoreArguments& arguments) {
  auto* command = program.add_subcommand(
      "score", "Say how probable a model finds given translations, and how it aligns them");
  add_model_options(*command, arguments.model)->required();
  command->add_option("-s,--src", arguments.source, "the source text, plain or .gz")
      ->required()
      ->type_name("FILE");
  auto* target = command->add_option("-t,--trg", arguments.target, "its translations, line by line")
                     ->type_name("FILE");
  auto* n_best =
      command
          ->add_option("--n-best", arguments.n_best,
                       "an n-best list (Moses) of translations in place of -t: each line gets the "
                       "log-probability as one more feature")
          ->excludes(target)
          ->type_name("FILE");
  command->add_option("--feature", arguments.feature, "the feature's name")
      ->needs(n_best)
      ->type_name("NAME");
  command
      ->add_option("-o,--output", arguments.output,
                   "where the scores go; standard output when not given")
      ->type_name("FILE");
  command->add_flag("--words", arguments.words, "the log-probability of each word too")
      ->excludes(n_best);
  command->add_flag("--json", arguments.json, "print one JSON object")->excludes(n_best);
  command->add_option("--batch-size", arguments.batch_size, "pairs scored together")
      ->transform(whole_number(1, 1000000))
      ->type_name("N");
  add_alignment_options(*command, arguments, target);
  return command;
}

}  // namespace regard
