#include "commands/model_report.h"

#include <cstdlib>
#include <limits>

#include "base/counted.h"
#include "base/error.h"
#include "base/version.h"
#include "checkpoint/folder.h"
#include "checkpoint/run_folder.h"
#include "commands/model_text.h"
#include "report/format.h"
#include "report/table.h"
#include "training/run_manifest.h"
#include "training/setup_report.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

template <typename Enum>
std::string name_of(Enum value) {
  return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
}

// The checkpoint that the path leads to, by its own name and not by a link's.
bool same(const std::optional<fs::path>& a, const fs::path& b) {
  std::error_code ignored;
  return a && fs::equivalent(*a, b, ignored);
}

RunReport report_on_run(const fs::path& path) {
  const RunFolder run(path);
  RunReport report;
  report.path = path;
  report.manifest = read_run_manifest(path / "manifest.json");
  std::error_code ignored;
  if (const auto file = path / "validations.tsv"; fs::exists(file, ignored)) {
    report.validations = read_validations(file.string());
  }
  report.checkpoints = run.list();
  report.best = run.best();
  report.last = run.last();
  return report;
}

std::string which(const ModelReport& report) {
  std::string text;
  if (report.run && same(report.run->best, report.path)) text += "best";
  if (report.run && same(report.run->last, report.path)) text += text.empty() ? "last" : ", last";
  return text.empty() ? "" : " (" + text + ")";
}

std::int64_t parameter_count(const Seq2Seq& model) {
  std::int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

std::string model_text(const ModelReport& report) {
  const auto& options = report.model.options;
  const auto& tokenizers = report.model.tokenizers;
  const auto vocabulary =
      options.data.tokenizer.joint
          ? fmt::format("{} {} for both languages", format_thousands(tokenizers.source->size()),
                        noun_for(tokenizers.source->size() == 1, "entry"))
          : fmt::format("{} source and {} target entries",
                        format_thousands(tokenizers.source->size()),
                        format_thousands(tokenizers.target->size()));
  return fmt::format("{}tokenizer  {}, {}\n\n{}", layers_text(options.model),
                     name_of(options.data.tokenizer.kind), vocabulary,
                     parameter_table(*report.model.model));
}

// A value of the manifest as text, a dash where it is missing.
std::string shown(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "–";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

double seconds_of(const RunReport& run) {
  const auto seconds = run.validations.numbers("seconds");
  return seconds.empty() ? std::numeric_limits<double>::quiet_NaN() : seconds.back();
}

std::string recipe_text(const Options& options) {
  const auto& o = options.training;
  const auto& d = options.model.dropout;
  auto schedule = name_of(o.scheduling);
  if (o.warmup_steps > 0)
    schedule += fmt::format(" after {} of warm-up", counted(o.warmup_steps, "step"));
  return fmt::format(
      "optimizer  {}, learning rate {}, {}\n"
      "batches  {} {}s{}, gradient clipped to norm {}, label smoothing {}\n"
      "dropout  embeddings {}, states {}, readout {}{}\n",
      name_of(o.optimizer), format_rate(o.learning_rate), schedule, o.batch_size,
      name_of(o.batch_type),
      o.gradient_accumulation == 1 ? "" : fmt::format(" × {}", o.gradient_accumulation),
      o.clip_grad_norm, o.label_smoothing, d.embeddings, d.states, d.readout,
      d.attention == 0 ? "" : fmt::format(", attention {}", d.attention));
}

std::string training_text(const ModelReport& report) {
  const auto averaged = report.checkpoint.find("average_of");
  auto text =
      averaged != report.checkpoint.end()
          ? fmt::format("these weights  the mean of {}\n", counted(averaged->size(), "model"))
          : fmt::format("these weights  step {}, epoch {}\n", shown(report.checkpoint, "step"),
                        shown(report.checkpoint, "epoch"));
  text += recipe_text(report.model.options);
  if (!report.run) return text;
  const auto& run = *report.run;
  text += fmt::format("until last validation  {}\n", format_duration(seconds_of(run)));
  text +=
      fmt::format("with  regard {}, LibTorch {}, {} {}, seed {}\n", shown(run.manifest, "regard"),
                  shown(run.manifest, "libtorch"), shown(run.manifest, "threads"),
                  noun_for(shown(run.manifest, "threads") == "1", "thread"),
                  shown(run.manifest, "random_seed"));
  if (const auto stopped = run.manifest.find("stopped"); stopped != run.manifest.end()) {
    text += fmt::format("stopped  at step {}: {}\n", shown(*stopped, "step"),
                        shown(*stopped, "reason"));
  }
  const auto files = run.manifest.find("data");
  if (files == run.manifest.end() || !files->is_array()) return text;
  Table table({{"data"}, {"lines", Align::right}, {"SHA-256"}});
  for (const auto& file : *files) {
    table.add({shown(file, "path"), shown(file, "lines"), shown(file, "sha256").substr(0, 12)});
  }
  return text + "\n" + table.text();
}

std::string scores_text(const Validations& validations) {
  std::vector<Table::Column> columns;
  for (const auto& column : validations.columns) columns.push_back({column, Align::right});
  Table table(columns);
  for (auto row : validations.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto& column = validations.columns[c];
      if (column == "step" || column == "epoch" || column == "best" || row[c].empty()) continue;
      const auto value = std::strtod(row[c].c_str(), nullptr);
      if (column == "learning_rate") {
        row[c] = format_rate(value);
      } else if (column == "seconds") {
        row[c] = format_duration(value);
      } else if (column == "perplexity") {
        row[c] = format_short(value);
      } else {
        row[c] = format_fixed(value, 2);
      }
    }
    table.add(row);
  }
  return table.text();
}

std::string checkpoints_text(const RunReport& run) {
  std::string text;
  const RunFolder folder(run.path);
  for (const auto step : run.checkpoints) {
    const auto path = folder.checkpoint(step);
    text += fmt::format("{}{}{}\n", path.filename().string(), same(run.best, path) ? "  best" : "",
                        same(run.last, path) ? "  last" : "");
  }
  return text;
}

Json validations_json(const Validations& validations) {
  Json rows = Json::array();
  for (const auto& row : validations.rows) {
    Json object = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto value = Json::parse(row[c], nullptr, false);
      object[validations.columns[c]] = value.is_number() ? value : Json(row[c]);
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

// A path of the link's target, as a plain name, null where there is none.
Json name_or_null(const std::optional<fs::path>& path) {
  return path ? Json(path->filename().string()) : Json();
}

}  // namespace

ModelReport report_on(const fs::path& path) {
  ModelReport report;
  report.path = resolve_model(path);
  report.model = load_model(report.path, torch::kCPU);
  const FolderReader folder(report.path);
  report.checkpoint = folder.info();
  std::error_code ignored;
  if (fs::is_directory(path / "checkpoints", ignored)) report.run = report_on_run(path);
  return report;
}

std::string to_text(const ModelReport& report) {
  auto text =
      fmt::format("{}  {}{}\n\nModel\n\n{}\nTraining\n\n{}", report.model.options.name,
                  report.path.string(), which(report), model_text(report), training_text(report));
  if (!report.run) return text;
  if (!report.run->validations.rows.empty()) {
    text += "\nValidations\n\n" + scores_text(report.run->validations);
  }
  return text + "\nCheckpoints\n\n" + checkpoints_text(*report.run);
}

Json to_json(const ModelReport& report) {
  const auto& options = report.model.options;
  Json json{{"name", options.name},
            {"path", report.path.string()},
            {"regard", version()},
            {"encoder", name_of(options.model.encoder.kind)},
            {"decoder", name_of(options.model.decoder.kind)},
            {"attention", attention_kind(options.model)},
            {"parameters", parameter_count(*report.model.model)},
            {"tokenizer",
             {{"kind", name_of(options.data.tokenizer.kind)},
              {"joint", options.data.tokenizer.joint},
              {"source", report.model.tokenizers.source->size()},
              {"target", report.model.tokenizers.target->size()}}},
            {"checkpoint", report.checkpoint}};
  if (!report.run) return json;
  json["run"] = {{"manifest", report.run->manifest},
                 {"validations", validations_json(report.run->validations)},
                 {"checkpoints", report.run->checkpoints},
                 {"best", name_or_null(report.run->best)},
                 {"last", name_or_null(report.run->last)}};
  return json;
}

}  // namespace regard
