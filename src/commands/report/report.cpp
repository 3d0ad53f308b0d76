// regard report: writes one HTML page about a training run, or about several.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "checkpoint/run_folder.h"
#include "commands/commands.h"
#include "commands/model_report.h"
#include "commands/output_file.h"
#include "commands/report/run_comparison.h"
#include "commands/report/run_report.h"
#include "commands/translate/attention_report.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "metrics/metric_factory.h"
#include "report/alignment_picture.h"
#include "report/page.h"
#include "report/xml.h"
#include "training/setup_report.h"
#include "training/validation_record.h"
#include "translation/model_folder.h"

namespace regard {
namespace {

// Returns the text given on the command line, or the validation text.
std::optional<ScoredText> scored_text(const ReportArguments& arguments, const RunRecord& run) {
  if (arguments.hypotheses.empty()) return validation_text(run);
  ScoredText text{arguments.hypotheses, read_lines(arguments.source, run.options.data.source),
                  read_lines(arguments.reference), read_lines(arguments.hypotheses)};
  const auto count = text.sources.size();
  check_line_counts(arguments.reference, text.references.size(), arguments.source, count);
  check_line_counts(arguments.hypotheses, text.hypotheses.size(), arguments.source, count);
  return text;
}

// Translates a sample of the sentences with the run's model and shows the attention.
std::string attention_html(const LoadedModel& model, const ScoredText& text, std::size_t count) {
  const auto sample = evenly_spread(text.sources.size(), count);
  const auto limit = source_line_limit(model.contents.codec, model.contents.options.data);
  std::vector<std::string> lines;
  for (const auto i : sample) {
    lines.push_back(text.sources[i]);
    truncate_line(lines.back(), limit, "source", static_cast<std::int64_t>(i) + 1);
  }
  const auto& search = model.contents.options.search;
  auto request = search_request(search);
  request.want_tree = true;
  const auto translator = model.translator();
  const auto translations = translator.translate(lines, request, search.batch_size);
  std::string html;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (translations[i].hypotheses.empty()) continue;
    html += fmt::format("<h3>line {}</h3>\n", sample[i] + 1) +
            sentence_html(model, translator, lines[i], translations[i]);
  }
  return html;
}

// Writes the page about several runs.
ExitCode report_comparison(const ReportArguments& arguments) {
  if (!arguments.hypotheses.empty()) {
    throw ConfigError(
        "--hypotheses: found {}, expected one; leave out --src, --ref and --hypotheses",
        counted(arguments.model.models.size(), "run"));
  }
  const auto path = arguments.output.empty() ? "comparison.html" : arguments.output;
  check_files({}, {path});
  const auto runs = read_runs(arguments.model.models);
  OutputFile output(path);
  output.write(comparison_page(runs, static_cast<std::size_t>(arguments.sentences)));
  output.commit();
  if (arguments.output.empty()) log::info("{}", path);
  return ExitCode::ok;
}

}  // namespace

ExitCode report(const ReportArguments& arguments) {
  if (arguments.model.models.size() > 1) return report_comparison(arguments);
  const std::filesystem::path folder = arguments.model.models[0];
  const auto path = arguments.output.empty() ? (folder / "report.html").string() : arguments.output;
  const auto run = read_run(folder);
  check_files({arguments.source, arguments.reference, arguments.hypotheses}, {path});
  const auto text = scored_text(arguments, run);
  // The translations over time are always those of the validation text.
  const auto validation = arguments.hypotheses.empty() ? text : validation_text(run);
  const auto count = static_cast<std::size_t>(arguments.sentences);
  OutputFile output(path);

  std::optional<LoadedModel> model;  // if it can translate
  std::shared_ptr<Seq2Seq> network;
  if (RunFolder(folder).last()) {
    if (run.options.model.kind == ModelKind::masked_language_model) {
      network =
          retry_if_removed([&] { return load_model(resolve_model(folder), torch::kCPU).model; });
    } else {
      auto of_model = arguments.model;
      of_model.tag_options = "";
      of_model.tags = {run.options.data.dev.src_tag, run.options.data.dev.trg_tag};
      model = load_models(of_model);
      network = model->contents.model;
    }
  }
  const auto parameters = network ? std::optional(parameter_count(*network)) : std::nullopt;

  auto body = page_section("", identity_html(run, parameters) + summary_html(run)) +
              page_section("Learning curves", learning_curves_html(run));
  if (text && run.options.data.source == SourceKind::text) {
    // The metric that chose the model, unless that is the loss or the perplexity.
    const std::string chosen_by(enum_name(run.options.training.early_stopping_metric));
    const bool is_of_text = std::ranges::count(metric_names(), chosen_by) > 0;
    const auto metric = make_metric(is_of_text ? chosen_by : "bleu", {});
    body +=
        page_section(metric->name() + " by source length", score_by_length_html(*text, *metric));
  }
  if (validation) {
    body += page_section("Validation translations over time",
                         translation_history_html(run, *validation, count));
  }
  if (text) body += page_section("Best and worst sentences", best_and_worst_html(*text, count));
  if (model && text) {
    try {
      body += page_section("Inside the model", attention_html(*model, *text, count));
    } catch (const InputError& error) {  // the files of features are on another machine
      log::warning("{}; the page has no section `Inside the model`", error.what());
    }
  }
  const auto table = network ? "<pre>" + escape_xml(parameter_table(*network)) + "</pre>\n" : "";
  body += page_section("Configuration", table + configuration_html(run));
  output.write(html_page("Run " + run.options.name, scale_switch(WeightScale::absolute), body));
  output.commit();
  if (arguments.output.empty()) log::info("{}", path);
  return ExitCode::ok;
}

}  // namespace regard
