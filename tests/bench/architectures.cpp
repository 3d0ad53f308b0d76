#include "tests/bench/architectures.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/packed_weights.h"
#include "kernels/product_rows.h"
#include "model/attention/table.h"
#include "model/build_model.h"
#include "report/table.h"
#include "tests/bench/timing.h"
#include "tests/bench/training_case.h"

namespace regard {
namespace {

constexpr std::int64_t first_token = 4;  // behind the special ones

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
    add("GRU, " + kind, [&](ModelOptions& o) { o.attention.kind = kind; });
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

// The time of a decoding step, in seconds for each hypothesis: 16 sentences of S tokens with 5
// hypotheses each on one thread, in the precision of `translate`. The output layer is left out.
double decoding_step_seconds(Seq2Seq& model, std::int64_t S, int repeats) {
  constexpr std::int64_t B = 16, G = 5, steps = 10;
  const torch::InferenceMode guard;
  model.eval();
  kernels::PackedWeights weights(kernels::find_precision("auto", torch::kCPU));
  const kernels::WithPackedWeights with(weights);
  auto encoded = model.encode(torch::full({B, S}, first_token, torch::kLong),
                              torch::full({B}, S, torch::kLong));
  const auto first = model.initial_state(encoded).select(torch::arange(B).repeat_interleave(G));
  const auto tokens = torch::full({B * G}, first_token, torch::kLong);
  std::vector<double> times;
  for (int round = -1; round < repeats; ++round) {
    auto state = first;
    const auto time = seconds([&] {
      for (std::int64_t t = 0; t < steps; ++t) state = model.step(tokens, state, encoded).state;
    });
    if (round >= 0) times.push_back(time / (B * G * steps));
  }
  return median(times);
}

// Prints the time of a decoding step of each attention kind and source length.
Json decoding_steps(int repeats, const std::string& only) {
  constexpr std::array<std::int64_t, 4> lengths = {15, 50, 100, 200};
  std::vector<Table::Column> columns = {{"attention"}};
  for (const auto S : lengths) columns.push_back({fmt::format("S = {}", S), Align::right});
  Table table(columns);
  Json rows = Json::array();
  for (const auto& [name, options, shape] : all_architectures()) {
    const bool is_attention =
        name.starts_with("GRU, ") && std::ranges::count(attention_kinds(), name.substr(5)) > 0;
    if (!is_attention || name.find(only) == std::string::npos) continue;
    torch::manual_seed(1);
    const auto model = build_model(shape.V, shape.V, options);
    std::vector<std::string> cells = {name.substr(5)};
    Json row = {{"name", name.substr(5)}};
    for (const auto S : lengths) {
      const auto microseconds = 1e6 * decoding_step_seconds(*model, S, repeats);
      row["microseconds"].push_back(microseconds);
      cells.push_back(fmt::format("{:.1f}", microseconds));
    }
    table.add(cells);
    rows.push_back(row);
  }
  fmt::print(
      "A step of a beam search, microseconds for each hypothesis, without the output layer: 16 "
      "sentences of S tokens with 5 hypotheses each, one thread, window 10.\n\n{}\n",
      table.markdown());
  return rows;
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
  return {{"architectures", rows}, {"decoding_steps", decoding_steps(repeats, only)}};
}

}  // namespace regard
