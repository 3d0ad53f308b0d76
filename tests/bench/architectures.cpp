#include "tests/bench/architectures.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "kernels/product_rows.h"
#include "model/attention/table.h"
#include "report/table.h"
#include "tests/bench/timing.h"
#include "tests/bench/training_case.h"

namespace regard {
namespace {

struct Architecture {
  std::string name;
  ModelOptions options;
  BatchShape shape;
};

void set_widths(ModelOptions& o, std::int64_t D) {
  o.encoder.embedding_dim = o.encoder.hidden_size = D;
  o.decoder.embedding_dim = o.decoder.hidden_size = D;
}

// The Transformer of configs/multi30k_transformer.yaml.
ModelOptions small_transformer() {
  ModelOptions o;
  o.encoder.kind = o.decoder.kind = LayerKind::transformer;
  set_widths(o, 128);
  o.encoder.layers = o.decoder.layers = 4;
  o.encoder.self_attention.heads = o.decoder.self_attention.heads = 4;
  o.encoder.self_attention.feed_forward_size = o.decoder.self_attention.feed_forward_size = 256;
  o.tied_embeddings = TiedEmbeddings::all;
  o.dropout.embeddings = o.dropout.states = 0.3;
  o.dropout.readout = 0;
  return o;
}

// The base model of Vaswani et al. (2017) with half as many layers.
ModelOptions large_transformer() {
  auto o = small_transformer();
  set_widths(o, 512);
  o.encoder.layers = o.decoder.layers = 3;
  o.encoder.self_attention.heads = o.decoder.self_attention.heads = 8;
  o.encoder.self_attention.feed_forward_size = o.decoder.self_attention.feed_forward_size = 2048;
  o.dropout.embeddings = o.dropout.states = 0.1;
  return o;
}

std::vector<Architecture> all_architectures() {
  std::vector<Architecture> all;
  const auto add = [&](const std::string& name, const std::function<void(ModelOptions&)>& change) {
    all.push_back({name, bench_model(), {}});
    change(all.back().options);
  };
  for (const auto& kind : attention_kinds()) {
    add("GRU, " + kind, [&](ModelOptions& o) {
      o.attention.kind = kind;
      const bool needs_keys = kind == "dot" || kind == "scaled_dot" || kind == "cosine";
      o.attention.project_keys = needs_keys;  // the states of both directions are wider
    });
  }
  add("GRU, input feeding", [](ModelOptions& o) { o.decoder.input_feeding = true; });
  add("GRU, conditional", [](ModelOptions& o) { o.decoder.query = Query::conditional; });
  add("GRU, reset gate after",
      [](ModelOptions& o) { o.encoder.reset_gate = o.decoder.reset_gate = ResetGate::after; });
  add("GRU, 4 + 4 layers", [](ModelOptions& o) {
    o.encoder.layers = o.decoder.layers = 4;
    o.encoder.residual = o.decoder.residual = true;
  });
  add("LSTM", [](ModelOptions& o) { o.encoder.cell = o.decoder.cell = CellKind::lstm; });
  add("LSTM, 4 + 4 layers", [](ModelOptions& o) {
    o.encoder.cell = o.decoder.cell = CellKind::lstm;
    o.encoder.layers = o.decoder.layers = 4;
  });
  add("tanh cells", [](ModelOptions& o) { o.encoder.cell = o.decoder.cell = CellKind::tanh; });
  all.push_back({"Transformer, width 128", small_transformer(), {.B = 266, .V = 6000}});
  all.push_back({"Transformer, width 512", large_transformer(), {.B = 80}});
  return all;
}

Json measure(const Architecture& architecture, int repeats, ThreadPool& workers,
             TrainingPrecision precision) {
  ArchitectureCase training(architecture.options, architecture.shape, workers, precision);
  Timings timings;
  for (int round = -1; round < repeats; ++round) {  // the first warms up
    Timings unused;
    auto& t = round < 0 ? unused : timings;
    t.add("floor", training.floor());
    t.add("step", training.step());
  }
  return {{"name", architecture.name},
          {"million_parameters", static_cast<double>(training.parameters()) / 1e6},
          {"floor_ms", 1000 * median(timings.of("floor"))},
          {"step_ms", 1000 * median(timings.of("step"))},
          {"efficiency", median_of_pairs(timings.of("floor"), timings.of("step"))},
          {"target_tokens_per_second",
           static_cast<double>(training.target_tokens()) / median(timings.of("step"))}};
}

}  // namespace

Json architectures(int repeats, const std::string& only, ThreadPool& workers) {
  std::vector<TrainingPrecision> precisions = {TrainingPrecision::fp32};
  if (kernels::can_multiply(kernels::Precision::bf16)) {
    precisions.push_back(TrainingPrecision::bf16);
  }
  Table table({{"architecture"},
               {"million parameters", Align::right},
               {"precision"},
               {"floor, ms", Align::right},
               {"step, ms", Align::right},
               {"floor ÷ step", Align::right},
               {"target tokens/s", Align::right}});
  Json rows = Json::array();
  for (const auto& architecture : all_architectures()) {
    if (architecture.name.find(only) == std::string::npos) continue;
    for (const auto precision : precisions) {
      auto row = measure(architecture, repeats, workers, precision);
      row["precision"] = enum_name(precision);
      const auto figure = [&](const char* key, int digits) {
        return fmt::format("{:.{}f}", row[key].get<double>(), digits);
      };
      table.add({architecture.name, figure("million_parameters", 1),
                 std::string(enum_name(precision)), figure("floor_ms", 1), figure("step_ms", 1),
                 figure("efficiency", 2), figure("target_tokens_per_second", 0)});
      rows.push_back(row);
    }
  }
  fmt::print(
      "The sizes of the bench model, batches of 80 × 15 tokens; Transformers: vocabulary 6,000 and "
      "266 × 15 tokens (width 128), 8,000 and 80 × 15 (width 512). {} thread(s), medians of {} "
      "rounds. The floor is made of the products that the step made, at their shapes.\n\n{}\n",
      workers.count(), repeats, table.markdown());
  return {{"architectures", rows}};
}

}  // namespace regard
