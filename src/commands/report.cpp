// regard report: a run as one page.
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "checkpoint/run_folder.h"
#include "commands/attention_report.h"
#include "commands/commands.h"
#include "commands/output_file.h"
#include "commands/run_report.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "report/page.h"
#include "report/weight_scale.h"
#include "report/xml.h"
#include "training/examples.h"
#include "training/setup_report.h"

namespace regard {
namespace {

// The text whose translations are scored: that of the command line, or the validation's.
std::optional<ScoredText> scored_text(const ReportArguments& arguments, const RunRecord& run) {
  if (arguments.hypotheses.empty()) return validation_text(run);
  ScoredText text{arguments.hypotheses, read_lines(arguments.source),
                  read_lines(arguments.reference), read_lines(arguments.hypotheses)};
  const auto count = static_cast<std::int64_t>(text.sources.size());
  check_line_counts(arguments.reference, static_cast<std::int64_t>(text.references.size()),
                    arguments.source, count);
  check_line_counts(arguments.hypotheses, static_cast<std::int64_t>(text.hypotheses.size()),
                    arguments.source, count);
  return text;
}

// What the run's model makes of some of the sentences, with its attention.
std::string attention_html(const ReadyModel& model, const ScoredText& text, std::size_t count) {
  const auto chosen = spread(text.sources.size(), count);
  const auto limit = source_line_limit(model.loaded.tokenizers, model.loaded.options.data);
  std::vector<std::string> lines;
  for (const auto i : chosen) {
    lines.push_back(text.sources[i]);
    const auto number = static_cast<std::int64_t>(i) + 1;
    const auto warning = cut_long_line(lines.back(), limit, "source", number);
    if (warning) log::warning("{}", *warning);
  }
  const auto& testing = model.loaded.options.testing;
  auto search = search_options(testing);
  search.want_tree = true;
  const auto translations = model.translator().translate(lines, search, testing.batch_size);
  std::string html;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (translations[i].hypotheses.empty()) continue;
    html += fmt::format("<h3>line {}</h3>\n", chosen[i] + 1) +
            sentence_html(model, lines[i], translations[i]);
  }
  return html;
}

std::string section_of(const std::string& heading, const std::string& body) {
  return body.empty() ? "" : page_section(heading, body);
}

}  // namespace

ExitCode report(const ReportArguments& arguments) {
  const std::filesystem::path folder = arguments.model.models[0];
  const auto path = arguments.output.empty() ? (folder / "report.html").string() : arguments.output;
  check_files({arguments.source, arguments.reference, arguments.hypotheses}, {path});
  const auto run = read_run(folder);
  const auto text = scored_text(arguments, run);
  const auto validation = arguments.hypotheses.empty() ? text : validation_text(run);
  const auto count = static_cast<std::size_t>(arguments.sentences);
  OutputFile output(path);

  auto body = section_of("", facts_html(run)) + section_of("Learning curves", curves_html(run));
  if (text) body += section_of("BLEU by source length", by_length_html(*text));
  if (validation) {
    body += section_of("Validation translations over time", progress_html(run, *validation, count));
  }
  if (text) body += section_of("Best and worst sentences", extremes_html(*text, count));
  auto configuration = configuration_html(run);
  if (RunFolder(folder).last()) {
    const auto model = load_model(arguments.model);
    if (text) {
      body += section_of("Inside the model", attention_html(model, *text, count));
    }
    configuration =
        "<pre>" + escape_xml(parameter_table(*model.loaded.model)) + "</pre>\n" + configuration;
  }
  body += page_section("Configuration", configuration);
  output.write(html_page("Run " + run.options.name, scale_switch(WeightScale::absolute), body));
  output.commit();
  if (arguments.output.empty()) log::info("{}", path);
  return ExitCode::ok;
}

}  // namespace regard
