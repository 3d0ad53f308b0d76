#include "cli/report_arguments.h"

namespace regard {

CLI::App* add_report(CLI::App& program, ReportArguments& arguments) {
  auto* command = program.add_subcommand(
      "report",
      "Draw a run as one .html page: learning curves, translations, BLEU by length, attention");
  command->add_option("run", arguments.model.models, "a run folder")->expected(1)->required();
  command->add_option("-o,--output", arguments.output,
                      "where the page goes; report.html in the run when not given");
  auto* source = command->add_option("-s,--src", arguments.source,
                                     "score translations of this text in place of the validation's "
                                     "(plain or .gz), with --ref and --hypotheses");
  auto* reference =
      command->add_option("-r,--ref", arguments.reference, "their reference")->needs(source);
  auto* hypotheses =
      command->add_option("--hypotheses", arguments.hypotheses, "the translations, from a file")
          ->needs(source)
          ->needs(reference);
  source->needs(reference)->needs(hypotheses);
  reference->needs(hypotheses);
  command
      ->add_option("--sentences", arguments.sentences,
                   "how many sentences are shown in each part (default 5)")
      ->check(CLI::Range(0, 100))
      ->type_name("N");
  add_device_options(*command, arguments.model);
  return command;
}

}  // namespace regard
