#include "training/model_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/log.h"
#include "model/attention/table.h"
#include "model/build_model.h"
#include "optim/optimizer.h"
#include "report/format.h"
#include "report/table.h"

namespace regard {
namespace {

// Returns the module that a parameter belongs to, at most three levels deep: "encoder.layer0" for
// "encoder.layer0.W". Returns the name of a parameter that is in no module, such as "output_bias".
std::string module_of(const std::string& parameter) {
  auto module = parameter.substr(0, parameter.rfind('.'));
  while (std::ranges::count(module, '.') > 2) module.resize(module.rfind('.'));
  return module;
}

std::vector<std::string> data_row(const std::string& name, const Corpus& corpus,
                                  bool has_duplicates) {
  const auto& r = corpus.report();
  const auto side = [&](const CorpusReport::Side& s) {
    return fmt::format("{} ({:.1f} a line, {:.2f} % unknown)", format_thousands(s.tokens),
                       r.mean_length(s), 100 * r.unknown_rate(s));
  };
  std::vector<std::string> row = {name,
                                  format_thousands(r.read),
                                  format_thousands(r.kept),
                                  format_thousands(r.empty),
                                  format_thousands(r.too_long),
                                  format_thousands(r.high_ratio)};
  if (has_duplicates) row.push_back(format_thousands(r.duplicates));
  const bool has_source = !corpus.codec().source->ignores_text();
  row.push_back(has_source ? side(r.source) : "–");  // a language model has none
  row.push_back(side(r.target));
  return row;
}

}  // namespace

std::string parameter_table(const Seq2Seq& model) {
  Table table({{"module"}, {"shapes"}, {"parameters", Align::right}});
  std::vector<std::string> order;
  std::map<std::string, std::pair<std::string, std::int64_t>> modules;
  std::int64_t total = 0;
  for (const auto& [name, tensor] : parameters_of(model)) {
    const auto module = module_of(name);
    if (!modules.contains(module)) order.push_back(module);
    auto& [shapes, count] = modules[module];
    shapes += fmt::format("{}[{}]", shapes.empty() ? "" : " ", fmt::join(tensor.sizes(), "×"));
    count += tensor.numel();
    total += tensor.numel();
  }
  for (const auto& module : order) {
    table.add({module, modules[module].first, format_thousands(modules[module].second)});
  }
  table.add_rule();
  table.add({"all", "", format_thousands(total)});
  return table.text();
}

std::string data_table(const Corpus& train, const Corpus* dev) {
  const bool has_duplicates = train.report().duplicates > 0;
  std::vector<Table::Column> columns = {{"data"},
                                        {"pairs", Align::right},
                                        {"kept", Align::right},
                                        {"empty", Align::right},
                                        {"too long", Align::right},
                                        {"high ratio", Align::right}};
  if (has_duplicates) columns.push_back({"duplicates", Align::right});
  columns.push_back({"source tokens", Align::right});
  columns.push_back({"target tokens", Align::right});
  Table table(columns);
  table.add(data_row("train", train, has_duplicates));
  if (dev != nullptr) table.add(data_row("dev", *dev, has_duplicates));
  return table.text();
}

void report_rates(const Seq2Seq& model, const TrainingOptions& options) {
  const auto parameters = parameters_of(model);
  const auto factors = learning_rate_factors(options, parameters);
  std::map<double, std::int64_t> numbers;  // of parameters, by factor
  std::int64_t all = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    numbers[factors[i]] += parameters[i].second.numel();
    all += parameters[i].second.numel();
  }
  for (const auto& [factor, count] : numbers) {
    if (factor == 1) continue;
    const auto what = factor == 0 ? "are frozen" : fmt::format("learn {} times as fast", factor);
    log::info("{} of {} parameters {}", format_thousands(count), format_thousands(all), what);
  }
}

void report_widths(const ModelOptions& given, const ModelOptions& resolved) {
  const bool has_attention =
      resolved.kind == ModelKind::translation && resolved.decoder.kind == LayerKind::recurrent;
  if (has_attention && !is_read(resolved.attention, &AttentionOptions::size) &&
      resolved.attention.size != AttentionOptions().size) {
    log::info("model.attention.size has no effect: {} does not read it",
              enum_name(resolved.attention.kind));
  }
  if (given.attention.project_keys != resolved.attention.project_keys &&
      resolved.attention.project_keys == ProjectKeys::yes) {
    log::info(
        "Attention compares keys of width {} that a matrix computes from the encoder states of "
        "width {} (model.attention.project_keys: auto)",
        resolved.decoder.hidden_size, state_size(resolved.encoder));
  }
  const auto report = [](const char* side, const auto& o) {
    if (o.kind != decltype(o.kind)::transformer || o.embedding_dim == o.hidden_size) return;
    log::info("{}: a matrix projects the embeddings of width {} to the width {} of the layers",
              side, o.embedding_dim, o.hidden_size);
  };
  report("model.encoder", resolved.encoder);
  report("model.decoder", resolved.decoder);
}

}  // namespace regard
