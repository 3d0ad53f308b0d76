#include "tests/bench/architectures.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "model/attention/table.h"
#include "model/build_model.h"
#include "report/table.h"
#include "tests/bench/timing.h"
#include "tests/bench/training_case.h"
#include "tests/model/attention_kind.h"

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
  o.encoder.kind = EncoderKind::transformer;
  o.decoder.kind = LayerKind::transformer;
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
  for (const auto& kind : choice_names<AttentionKind>()) {
    add("GRU, " + kind, [&](ModelOptions& o) { o.attention.kind = kind_named(kind); });
  }
  add("GRU, input feeding", [](ModelOptions& o) { o.decoder.input_feeding = true; });
  add("GRU, conditional", [](ModelOptions& o) { o.decoder.query = Query::between; });
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

std::size_t bytes_of(const std::vector<torch::Tensor>& tensors) {
  std::size_t bytes = 0;
  for (const auto& tensor : tensors) bytes += tensor.defined() ? tensor.nbytes() : 0;
  return bytes;
}

// The time of a search and the memory that it keeps for each sentence and for each hypothesis.
struct DecodingCosts {
  double seconds;           // for each step and hypothesis
  double sentence_bytes;    // encoder output and decoder context
  double hypothesis_bytes;  // decoder state
};

// Measures 10 steps of a search: 16 sentences of S tokens with 5 hypotheses each on one thread, in
// the precision of `translate`. The output layer is left out.
DecodingCosts decoding_costs(Seq2Seq& model, std::int64_t S, int repeats) {
  constexpr std::int64_t B = 16, G = 5, steps = 10;
  const torch::InferenceMode guard;
  model.eval();
  kernels::PackedWeights weights(kernels::find_precision("auto", torch::kCPU));
  const auto mode = kernels::Mode::search(weights);
  auto encoded = model.encode(
      {torch::full({B, S}, first_token, torch::kLong), torch::full({B}, S, torch::kLong)});
  const auto rows = torch::arange(B).repeat_interleave(G);
  const auto first = model.initial_state(encoded).select({rows, rows});
  const auto tokens = torch::full({B * G}, first_token, torch::kLong);
  std::vector<double> times;
  DecoderState state;
  for (int round = -1; round < repeats; ++round) {
    state = first;
    const auto time = seconds([&] {
      for (std::int64_t t = 0; t < steps; ++t) state = model.step(tokens, state, encoded).state;
    });
    if (round >= 0) times.push_back(time / (B * G * steps));
  }
  std::vector<torch::Tensor> of_sentences = {encoded.states, encoded.mask, encoded.padding,
                                             encoded.summary};
  for (const auto* tensor : encoded.context.all()) of_sentences.push_back(*tensor);
  auto of_hypotheses = state.layers;
  for (const auto* part : {&state.pasts, &state.attention}) {
    of_hypotheses.insert(of_hypotheses.end(), part->begin(), part->end());
  }
  of_hypotheses.push_back(state.readout);
  return {.seconds = median(times),
          .sentence_bytes = static_cast<double>(bytes_of(of_sentences)) / B,
          .hypothesis_bytes = static_cast<double>(bytes_of(of_hypotheses)) / (B * G)};
}

}  // namespace

Json architectures(int repeats, const std::string& only, ThreadPool& workers) {
  const auto precisions = measured_precisions();
  std::vector<Table::Column> columns = {{"architecture"}, {"million parameters", Align::right}};
  for (const auto precision : precisions) {
    for (const auto* figure : {"floor, ms", "step, ms", "floor ÷ step", "target tokens/s"}) {
      columns.push_back({fmt::format("{}: {}", enum_name(precision), figure), Align::right});
    }
  }
  Table table(columns);
  Json rows = Json::array();
  for (const auto& architecture : all_architectures()) {
    if (architecture.name.find(only) == std::string::npos) continue;
    std::vector<std::string> cells = {architecture.name};
    for (const auto precision : precisions) {
      auto row = measure(architecture, repeats, workers, precision);
      row["precision"] = enum_name(precision);
      const auto add = [&](const char* key, int digits) {
        cells.push_back(fmt::format("{:.{}f}", row[key].get<double>(), digits));
      };
      if (cells.size() == 1) add("million_parameters", 1);
      add("floor_ms", 1);
      add("step_ms", 1);
      add("efficiency", 2);
      add("target_tokens_per_second", 0);
      rows.push_back(row);
    }
    table.add(cells);
  }
  fmt::print(
      "The sizes of the bench model, batches of 80 × 15 tokens; Transformers: vocabulary 6,000 and "
      "266 × 15 tokens (width 128), 8,000 and 80 × 15 (width 512). {} thread(s), medians of {} "
      "rounds. The floor is made of the products that the step made, at their shapes.\n\n{}\n",
      workers.count(), repeats, table.markdown());
  return {{"architectures", rows}};
}

Json decoding_steps(int repeats, const std::string& only) {
  constexpr std::array<std::int64_t, 5> lengths = {10, 25, 50, 100, 200};
  std::vector<Table::Column> columns = {{"decoder"}};
  for (const auto S : lengths) columns.push_back({fmt::format("S = {}", S), Align::right});
  columns.push_back({"KiB for each source token", Align::right});
  columns.push_back({"KiB for each hypothesis", Align::right});
  Table table(columns);
  Json rows = Json::array();
  for (const auto& [name, options, shape] : all_architectures()) {
    const bool is_attention = name.starts_with("GRU, ") &&
                              std::ranges::count(choice_names<AttentionKind>(), name.substr(5)) > 0;
    const bool is_transformer = options.decoder.kind == LayerKind::transformer;
    if (!(is_attention || is_transformer) || name.find(only) == std::string::npos) continue;
    torch::manual_seed(1);
    const auto model = build_model(shape.V, shape.V, options);
    const auto title = is_attention ? name.substr(5) : name;
    std::vector<std::string> cells = {title};
    Json row = {{"name", title}};
    for (const auto S : lengths) {
      const auto costs = decoding_costs(*model, S, repeats);
      row["microseconds"].push_back(1e6 * costs.seconds);
      row["sentence_bytes"].push_back(costs.sentence_bytes);
      row["hypothesis_bytes"] = costs.hypothesis_bytes;
      cells.push_back(fmt::format("{:.1f}", 1e6 * costs.seconds));
    }
    const auto& bytes = row["sentence_bytes"];
    const auto of_token = (bytes.back().get<double>() - bytes.front().get<double>()) /
                          static_cast<double>(lengths.back() - lengths.front());
    cells.push_back(fmt::format("{:.1f}", of_token / 1024));
    cells.push_back(fmt::format("{:.1f}", row["hypothesis_bytes"].get<double>() / 1024));
    table.add(cells);
    rows.push_back(row);
  }
  fmt::print(
      "A step of a beam search, microseconds for each hypothesis, without the output layer: 16 "
      "sentences of S tokens with 5 hypotheses each, steps 1 to 10, one thread, window 10. The "
      "memory of a source token is that of its encoder output and of precomputed keys and values; "
      "that of a hypothesis is its state with 200 source and 10 target tokens.\n\n{}\n",
      table.markdown());
  return {{"decoding_steps", rows}};
}

}  // namespace regard
