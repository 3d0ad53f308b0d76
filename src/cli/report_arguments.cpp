#include "cli/report_arguments.h"

#include "cli/numbers.h"

namespace regard {

CLI::App* add_report(CLI::App& program, ReportArguments& arguments) {
  auto* command = program.add_subcommand(
      "report",
      "Draw a run as one .html page: learning curves, translations, BLEU by length, attention");
  command->add_option("run", arguments.model.models, "a run folder")
      ->expected(1)
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option("-o,--output", arguments.output,
                   "where the page goes; report.html in the run when not given")
      ->type_name("FILE");
  auto* source = command
                     ->add_option("-s,--src", arguments.source,
                                  "score translations of this text in place of the validation's "
                                  "(plain or .gz), with --ref and --hypotheses")
                     ->type_name("FILE");
  auto* reference = command->add_option("-r,--ref", arguments.reference, "their reference")
                        ->needs(source)
                        ->type_name("FILE");
  auto* hypotheses =
      command->add_option("--hypotheses", arguments.hypotheses, "the translations, from a file")
          ->needs(source)
          ->needs(reference)
          ->type_name("FILE");
  source->needs(reference)->needs(hypotheses);
  reference->needs(hypotheses);
  command
      ->add_option("--sentences", arguments.sentences,
                   "how many sentences are shown in each part (default 5)")
      ->transform(whole_number(0, 100))
      ->type_name("N");
  add_device_options(*command, arguments.model);
  return command;
}

}  // namespace regard
