#include "commands/model_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/error.h"
#include "base/strings.h"
#include "base/version.h"
#include "checkpoint/folder.h"
#include "checkpoint/run_folder.h"
#include "config/parts.h"
#include "config/scalar.h"
#include "model/attention/table.h"
#include "report/format.h"
#include "report/table.h"
#include "training/initial_model.h"
#include "training/run_manifest.h"
#include "training/setup_report.h"

namespace regard {
namespace {

std::string layers(std::int64_t n, const std::string& what) {
  return counted(n, what + " layer");
}

std::string self_attention_text(const SelfAttentionOptions& o) {
  return fmt::format(
      "{}, feed-forward {}, {}-norm, {}", counted(o.heads, "head"), o.feed_forward_size,
      to_yaml(o.norm),
      o.position == PositionKind::none ? "no positions" : to_yaml(o.position) + " positions");
}

// "2 LSTM layers of 512, residual".
template <typename Side>
std::string recurrent_text(const Side& o) {
  const auto cell = o.cell == CellKind::gru ? "GRU" : o.cell == CellKind::lstm ? "LSTM" : "tanh";
  return fmt::format("{} of {}{}{}", layers(o.layers, cell), o.hidden_size,
                     o.residual ? ", residual" : "", o.layer_norm ? ", layer-normalised" : "");
}

std::string encoder_text(const EncoderOptions& o) {
  if (o.kind == EncoderKind::transformer) {
    return fmt::format("{} of {}, {}", layers(o.layers, "Transformer"), o.hidden_size,
                       self_attention_text(o.self_attention));
  }
  if (o.kind == EncoderKind::convolutional) {
    const auto grid = grid_of(o);
    return fmt::format("{} up to {}, images of {} × {} pixels as {} × {} cells",
                       layers(o.layers, "convolutional"), counted(o.hidden_size, "channel"),
                       o.numbers / o.image_channels, o.image_height, grid.columns, grid.rows);
  }
  auto text = fmt::format("{}{}, embeddings {}{}", recurrent_text(o),
                          o.pyramidal ? ", pyramidal" : "", o.embedding_dim,
                          o.bidirectional ? ", in both directions"
                          : o.reverse     ? ", right to left"
                                          : "");
  if (o.frame_stacking > 1) text += fmt::format(", {} frames stacked", o.frame_stacking);
  if (o.self_attention_layers > 0) {
    text += fmt::format("; on top {} of {}, {}", layers(o.self_attention_layers, "self-attention"),
                        state_size(o), self_attention_text(o.self_attention));
  }
  return text;
}

std::string decoder_text(const DecoderOptions& o) {
  if (o.kind == LayerKind::transformer) {
    return fmt::format("{} of {}, {}", layers(o.layers, "Transformer"), o.hidden_size,
                       self_attention_text(o.self_attention));
  }
  return fmt::format("{}, embeddings {}, readout {}{}{}", recurrent_text(o), o.embedding_dim,
                     o.readout_size,
                     o.query == Query::automatic ? "" : ", query " + to_yaml(o.query),
                     o.input_feeding ? ", input feeding" : "");
}

namespace fs = std::filesystem;

// True if both paths lead to the same folder, through links.
bool is_same_folder(const std::optional<fs::path>& a, const fs::path& b) {
  std::error_code ignored;
  return a && fs::equivalent(*a, b, ignored);
}

RunSummary read_run_summary(const fs::path& path) {
  const RunFolder run(path);
  RunSummary summary;
  summary.path = path;
  summary.manifest = read_run_manifest(path / "manifest.json");
  std::error_code ignored;
  if (const auto file = path / "validations.tsv"; fs::exists(file, ignored)) {
    summary.validations = read_validations(file.string());
  }
  summary.checkpoints = run.checkpoint_steps();
  summary.best = run.best();
  summary.last = run.last();
  return summary;
}

// Returns " (best, last)" with the links that point to the model; "" if none does.
std::string link_names(const ModelReport& report) {
  std::string text;
  if (report.run && is_same_folder(report.run->best, report.path)) text += "best";
  if (report.run && is_same_folder(report.run->last, report.path))
    text += text.empty() ? "last" : ", last";
  return text.empty() ? "" : " (" + text + ")";
}

std::string model_text(const ModelReport& report) {
  const auto& options = report.model.options;
  const auto& codec = report.model.codec;
  const auto vocabulary =
      options.model.kind != ModelKind::translation
          ? fmt::format("{} {}", format_thousands(codec.target->size()),
                        pluralize(codec.target->size() == 1, "entry"))
      : options.data.tokenizer.joint
          ? fmt::format("{} {} for both languages", format_thousands(codec.source->size()),
                        pluralize(codec.source->size() == 1, "entry"))
          : fmt::format("{} source and {} target entries", format_thousands(codec.source->size()),
                        format_thousands(codec.target->size()));
  const auto& symbols = options.data.tokenizer.user_symbols;
  return fmt::format(
      "{}tokenizer  {}, {}{}\n\n{}", layers_text(options.model),
      enum_name(options.data.tokenizer.kind), vocabulary,
      symbols.empty() ? "" : fmt::format("\nuser symbols  {}", fmt::join(symbols, " ")),
      parameter_table(*report.model.model));
}

// Returns a value of the manifest as text, or a dash if it is missing.
std::string value_text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "–";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string recipe_text(const Options& options) {
  const auto& o = options.training;
  const auto& d = options.model.dropout;
  auto schedule = std::string(enum_name(o.scheduling));
  if (o.warmup_steps > 0)
    schedule += fmt::format(" after {} of warm-up", counted(o.warmup_steps, "step"));
  return fmt::format(
      "optimizer  {}, learning rate {}, {}\n"
      "batches  {} {}s{}, gradient {}, label smoothing {}\n"
      "dropout  embeddings {}, states {}{}{}\n",
      enum_name(o.optimizer), format_rate(o.learning_rate), schedule, o.batch_size,
      enum_name(o.batch_type),
      o.gradient_accumulation == 1 ? "" : fmt::format(" × {}", o.gradient_accumulation),
      o.clip_grad_norm == 0 ? "not clipped" : fmt::format("clipped to norm {}", o.clip_grad_norm),
      o.label_smoothing, d.embeddings, d.states,
      has_part(options, Part::decoder) ? fmt::format(", readout {}", d.readout) : "",
      d.attention == 0 ? "" : fmt::format(", attention {}", d.attention));
}

std::string weights_text(const Json& checkpoint) {
  if (const auto averaged = checkpoint.find("average_of"); averaged != checkpoint.end()) {
    return "the mean of " + counted(averaged->size(), "model");
  }
  if (checkpoint.contains("quantized_from")) {
    return "quantized from " + value_text(checkpoint, "quantized_from");
  }
  return fmt::format("step {}, epoch {}", value_text(checkpoint, "step"),
                     value_text(checkpoint, "epoch"));
}

std::string training_text(const ModelReport& report) {
  auto text = fmt::format("these weights  {}\n", weights_text(report.checkpoint));
  if (const auto initial = report.checkpoint.find(initial_model_key);
      initial != report.checkpoint.end()) {
    text += fmt::format("initial weights  {}\n", value_text(report.checkpoint, initial_model_key));
  }
  text += recipe_text(report.model.options);
  if (!report.run) return text;
  const auto& run = *report.run;
  if (const auto seconds = run.validations.training_seconds(); !std::isnan(seconds)) {
    text += fmt::format("time to last validation  {}\n", format_duration(seconds));
  }
  const auto shards = run.manifest.contains("shards") ? value_text(run.manifest, "shards") : "0";
  text += fmt::format("with  regard {}, LibTorch {}, {} {}{}, seed {}\n",
                      value_text(run.manifest, "regard"), value_text(run.manifest, "libtorch"),
                      value_text(run.manifest, "threads"),
                      pluralize(value_text(run.manifest, "threads") == "1", "thread"),
                      shards == "0" ? "" : ", " + shards + " " + pluralize(shards == "1", "shard"),
                      value_text(run.manifest, "random_seed"));
  if (const auto stopped = run.manifest.find("stopped"); stopped != run.manifest.end()) {
    text += fmt::format("stopped  at step {}: {}\n", value_text(*stopped, "step"),
                        value_text(*stopped, "reason"));
  }
  const auto files = run.manifest.find("data");
  if (files == run.manifest.end() || !files->is_array()) return text;
  Table table({{"data"}, {"lines", Align::right}, {"SHA-256"}});
  for (const auto& file : *files) {
    table.add({value_text(file, "path"), value_text(file, "lines"),
               value_text(file, "sha256").substr(0, 12)});
  }
  return text + "\n" + table.text();
}

std::string validation_cell(const std::string& column, const std::string& cell) {
  if (column == "step" || column == "epoch" || column == "best" || cell.empty()) return cell;
  const auto value = std::strtod(cell.c_str(), nullptr);
  if (column == "learning_rate") return format_rate(value);
  if (column == "seconds") return format_duration(value);
  if (column == "perplexity") return format_short(value);
  return format_fixed(value, 2);
}

// Returns the table of the validations, with the star of the best ones in the last column.
std::string scores_text(const ValidationTable& validations) {
  const auto& names = validations.columns;
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_partition(order, [&](auto c) { return names[c] != "best"; });
  std::vector<Table::Column> columns;
  for (const auto c : order) columns.push_back({names[c], Align::right});
  Table table(columns);
  for (const auto& row : validations.rows) {
    std::vector<std::string> cells;
    for (const auto c : order) cells.push_back(validation_cell(names[c], row[c]));
    table.add(cells);
  }
  return table.text();
}

std::string checkpoints_text(const RunSummary& run) {
  std::string text;
  const RunFolder folder(run.path);
  for (const auto step : run.checkpoints) {
    const auto path = folder.checkpoint(step);
    text += fmt::format("{}{}{}\n", path.filename().string(),
                        is_same_folder(run.best, path) ? "  best" : "",
                        is_same_folder(run.last, path) ? "  last" : "");
  }
  return text;
}

Json validations_json(const ValidationTable& validations) {
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

// Returns the last component of the path, or null.
Json name_or_null(const std::optional<fs::path>& path) {
  return path ? Json(path->filename().string()) : Json();
}

}  // namespace

std::string layers_text(const ModelOptions& o) {
  if (o.kind == ModelKind::language_model) {
    return fmt::format("kind       language model\ndecoder    {}\n", decoder_text(o.decoder));
  }
  if (o.kind == ModelKind::masked_language_model) {
    return fmt::format("kind       masked language model\nencoder    {}\n",
                       encoder_text(o.encoder));
  }
  const auto attention = o.decoder.kind == LayerKind::transformer
                             ? "multi_head, in each of the decoder's layers"
                             : attention_text(o.attention);
  return fmt::format(
      "attention  {}\nencoder    {}\ndecoder    {}{}\n", attention, encoder_text(o.encoder),
      decoder_text(o.decoder),
      o.output.kind == OutputKind::vocabulary ? "" : ", output " + to_yaml(o.output.kind));
}

std::int64_t parameter_count(const Seq2Seq& model) {
  std::int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

std::string attention_kind(const ModelOptions& o) {
  if (o.kind != ModelKind::translation) return "none";
  return o.decoder.kind == LayerKind::transformer ? "multi_head" : to_yaml(o.attention.kind);
}

ModelReport read_model_report(const fs::path& path) {
  ModelReport report;
  retry_if_removed([&] {
    report.path = resolve_model(path);
    report.model = load_model(report.path, torch::kCPU);
    report.checkpoint = FolderReader(report.path).info();
  });
  std::error_code ignored;
  if (fs::is_directory(path / "checkpoints", ignored)) report.run = read_run_summary(path);
  return report;
}

std::string to_text(const ModelReport& report) {
  auto text = fmt::format("{}  {}{}\n\nModel\n\n{}\nTraining\n\n{}", report.model.options.name,
                          report.path.string(), link_names(report), model_text(report),
                          training_text(report));
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
            {"kind", enum_name(options.model.kind)},
            {"encoder", enum_name(options.model.encoder.kind)},
            {"decoder", enum_name(options.model.decoder.kind)},
            {"attention", attention_kind(options.model)},
            {"parameters", parameter_count(*report.model.model)},
            {"tokenizer",
             {{"kind", enum_name(options.data.tokenizer.kind)},
              {"joint", options.data.tokenizer.joint},
              {"user_symbols", options.data.tokenizer.user_symbols},
              {"source", report.model.codec.source->size()},
              {"target", report.model.codec.target->size()}}},
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
