// The results of a search for a sentence do not depend on the other sentences of its batch, nor on
// when they join it: tokens, log-probabilities, scores and attention weights are bit-identical, for
// every kind of model.
// Scores of given targets do not either, and have the same bits step by step and for all steps at
// once.
//
// Sizes are odd, so that vectors have tails, or large, so that a library would select its products
// by the number of rows. Lengths are 1 to 60 in random order, so that most sentences are padded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>

#include "decoding/score_targets.h"
#include "decoding/search.h"
#include "kernels/device.h"
#include "kernels/functions.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "model/attention/table.h"
#include "model/encoder_decoder.h"
#include "model/ensemble.h"
#include "tests/model/attention_kind.h"

namespace regard::batch_invariance_reference_test {
namespace {

constexpr std::int64_t V = 203;

struct Sentence {
  torch::Tensor source;  // [S], [S, 2] or [S, F + 1]
  torch::Tensor target;  // [T + 1], <s> y_1 … </s>
};

// All results of a hypothesis.
struct Found {
  std::vector<std::int32_t> tokens;
  bool finished;
  std::vector<double> figures;
  std::vector<std::vector<float>> weights;
  bool operator==(const Found&) const = default;
};

void PrintTo(const Found& found, std::ostream* out) {
  *out << found.tokens.size() << " tokens, figures";
  out->precision(17);
  for (const auto figure : found.figures) *out << ' ' << figure;
}

using Answers = std::vector<std::vector<Found>>;  // one list per sentence

struct Case {
  std::string name;
  ModelOptions options;
  std::size_t members = 1;
  EnsembleMean mean = EnsembleMean::log_linear;
};

// The models of one test.
struct Family {
  std::string name;
  std::vector<Case> cases;
};

void PrintTo(const Family& family, std::ostream* out) {
  *out << family.name;
}

// A model with random weights, and sentences for it.
class TestedModel {
 public:
  explicit TestedModel(const Case& tested) : options_(tested.options) {
    torch::manual_seed(3);
    std::vector<std::shared_ptr<Seq2Seq>> members;
    for (std::size_t m = 0; m < tested.members; ++m) {
      members.push_back(std::make_shared<EncoderDecoder>(V, V, options_));
      const torch::NoGradGuard guard;
      for (auto& [name, parameter] : parameters_of(*members.back())) {
        // Larger than at initialisation, so that attention and outputs are far from uniform.
        parameter.mul_(2).add_(0.01);
        if (name == "output_bias") parameter[3] += 3;  // some sentences end before others
      }
    }
    model_ = tested.members == 1 ? members[0] : std::make_shared<Ensemble>(members, tested.mean);
    model_->eval();
    for (const std::int64_t S : {1, 60, 2, 17, 33, 5, 9, 48, 3, 21, 12, 7, 26, 4, 15, 16, 31, 1}) {
      sentences_.push_back({source(S), target(1 + S % 7)});
    }
  }

  void expect_same_searches() const {
    SearchRequest greedy;
    greedy.beam_size = 1;
    expect_same_search("greedy", greedy);
    SearchRequest beam;
    beam.beam_size = beam.n_best = 5;
    expect_same_search("beam", beam);
    SearchRequest rules;  // that need the probabilities of all tokens
    rules.beam_size = 2;
    rules.repetition_penalty = 1.3;
    rules.no_repeat_ngram = 1;
    expect_same_search("under rules", rules);
    SearchRequest samples;
    samples.samples = 2;
    expect_same_search("sampling", samples);
    const auto automatic = kernels::find_precision("auto", torch::kCPU);
    for (const auto precision :
         {kernels::Precision::full, kernels::Precision::bf16, kernels::Precision::int8}) {
      if (precision == automatic || !kernels::can_multiply(precision)) continue;
      const auto name = "greedy in precision " + std::to_string(static_cast<int>(precision));
      expect_same_search(name, greedy, 0, precision);
    }
    if (!model_->output_layer().supports_shortlist() || options_.encoder.numbers > 0) return;
    for (const std::int64_t sizes : {3, 40}) {
      expect_same_search("greedy with shortlists", greedy, sizes);
      expect_same_search("beam with shortlists", beam, sizes);
      expect_same_search("under rules with shortlists", rules, sizes);
      expect_same_search("sampling with shortlists", samples, sizes);
    }
    expect_all_tokens_as_a_shortlist();
  }

  void expect_same_scores() const {
    SCOPED_TRACE("given translations");
    kernels::PackedWeights packed;
    expect_same_in_all_batches([&](const auto& source, const auto& target) {
      std::vector<std::vector<Hypothesis>> lists;
      for (auto& hypothesis : score_targets(*model_, source, {target}, true, packed)) {
        lists.push_back({std::move(hypothesis)});
      }
      return lists;
    });
  }

  // The self-attention of each head, if the model has any.
  void expect_same_self_attention() const {
    SCOPED_TRACE("self-attention");
    kernels::PackedWeights packed(kernels::find_precision("auto", torch::kCPU));
    const auto rows_of = [](const torch::Tensor& layer, std::int64_t b, std::int64_t n,
                            Hypothesis& hypothesis) {
      const auto real = layer[b].narrow(1, 0, n).narrow(2, 0, n).contiguous();  // [H, n, n]
      const auto* data = real.const_data_ptr<float>();
      hypothesis.weights.emplace_back(data, data + real.numel());
    };
    expect_same_in_all_batches([&](const auto& source, const auto& target) {
      const torch::InferenceMode guard;
      const auto mode = kernels::Mode::search(packed);
      const auto input = target.narrow(1, 0, target.size(1) - 1);
      const auto own = model_->self_attention(source, input);
      const auto states = model_->encode(source).lengths;  // fewer in a pyramid
      EXPECT_EQ(own.encoder.empty(), !has_self_attention(options_.encoder));
      EXPECT_EQ(own.decoder.empty(), options_.decoder.kind == LayerKind::recurrent);
      std::vector<std::vector<Hypothesis>> lists;
      for (std::int64_t b = 0; b < source.size(); ++b) {
        Hypothesis hypothesis;
        const auto S = states[b].template item<std::int64_t>();
        const auto T = target[b].ne(0).sum().template item<std::int64_t>() - 1;
        for (const auto& layer : own.encoder) rows_of(layer, b, S, hypothesis);
        for (const auto& layer : own.decoder) rows_of(layer, b, T, hypothesis);
        lists.push_back({std::move(hypothesis)});
      }
      return lists;
    });
  }

  // All steps at once have the bits of the steps of a search, in every precision.
  void expect_scores_equal_steps() const {
    for (const auto precision :
         {kernels::Precision::full, kernels::Precision::bf16, kernels::Precision::int8}) {
      if (!kernels::can_multiply(precision)) continue;
      SCOPED_TRACE("precision " + std::to_string(static_cast<int>(precision)));
      kernels::PackedWeights packed(precision);
      const auto score = [&](auto function) {
        return answers(64, [&](const auto& source, const auto& target) {
          std::vector<std::vector<Hypothesis>> lists;
          for (auto& hypothesis : function(source, target)) {
            lists.push_back({std::move(hypothesis)});
          }
          return lists;
        });
      };
      const auto at_once = score([&](const auto& source, const auto& target) {
        return score_targets(*model_, source, {target}, true, packed);
      });
      const auto step_by_step = score([&](const auto& source, const auto& target) {
        return score_step_by_step(source, target, packed);
      });
      ASSERT_EQ(at_once.size(), step_by_step.size());
      for (std::size_t i = 0; i < at_once.size(); ++i) {
        ASSERT_EQ(at_once[i], step_by_step[i]) << "sentence " << i;
      }
    }
  }

  // The log-probabilities of a hypothesis equal those of score_targets() for its tokens.
  void expect_scores_of_a_search() const {
    SearchRequest options;
    options.beam_size = 3;
    options.max_output_length = 8;
    const auto source = batch_of({sentences_[4].source});
    const auto found = search(*model_, source, options);
    for (const auto& hypothesis : found[0]) {
      std::vector<std::int64_t> target = {2};
      for (const auto token : hypothesis.tokens) target.push_back(token);
      target.push_back(3);
      const auto forced = score_targets(*model_, source, {torch::tensor(target).unsqueeze(0)},
                                        /*want_weights=*/false);
      for (std::size_t t = 0; t < hypothesis.token_log_p.size(); ++t) {
        // A beam search sums log-probabilities and takes differences.
        EXPECT_NEAR(forced[0].token_log_p[t], hypothesis.token_log_p[t], 1e-12) << t;
      }
    }
  }

 private:
  // Reference implementation of score_targets().
  std::vector<Hypothesis> score_step_by_step(const SourceBatch& source, const torch::Tensor& target,
                                             kernels::PackedWeights& packed) const {
    const torch::InferenceMode guard;
    const auto mode = kernels::Mode::search(packed);
    std::vector<Hypothesis> hypotheses(static_cast<std::size_t>(source.size()));
    const auto encoded = model_->encode(source);
    auto state = model_->initial_state(encoded);
    for (std::int64_t t = 0; t + 1 < target.size(1); ++t) {
      auto step = model_->step(target.select(1, t), state, encoded);
      const auto log_p =
          kernels::log_softmax(model_->output_layer().logits(step, encoded)).to(torch::kDouble);
      const AttentionOnCpu weights(step.weights);
      for (std::size_t b = 0; b < hypotheses.size(); ++b) {
        auto& hypothesis = hypotheses[b];
        if (hypothesis.finished) continue;
        const auto row = static_cast<std::int64_t>(b);
        const auto token = target[row][t + 1].item<std::int64_t>();
        hypothesis.token_log_p.push_back(log_p[row][token].item<double>());
        hypothesis.log_probability += hypothesis.token_log_p.back();
        hypothesis.score = hypothesis.log_probability;
        hypothesis.finished = token == eos_id;
        if (!hypothesis.finished) hypothesis.tokens.push_back(static_cast<std::int32_t>(token));
        if (weights)
          hypothesis.weights.push_back(weights.row(b, encoded.lengths[row].item<std::int64_t>()));
      }
      state = std::move(step.state);
    }
    return hypotheses;
  }

  // Returns tokens that end in </s>, as input of the model.
  torch::Tensor source(std::int64_t S) const {
    if (options_.encoder.kind == EncoderKind::convolutional) S = options_.encoder.image_height + 1;
    auto tokens = torch::randint(4, V, {S}, torch::kInt64);
    tokens[S - 1] = 3;
    if (options_.encoder.numbers > 0) return torch::randn({S, options_.encoder.numbers + 1});
    if (options_.output.kind != OutputKind::copy) return tokens;
    // Every third word is not in the target vocabulary; some words occur twice.
    auto copies = tokens.clone();
    for (std::int64_t s = 0; s + 1 < S; ++s) {
      if (s % 3 == 1) copies[s] = V + s / 3;
      if (s % 5 == 4) copies[s] = copies[s - 2];
    }
    return torch::stack({tokens, copies}, 1);
  }
  torch::Tensor target(std::int64_t T) const {
    const auto end_id = options_.output.kind == OutputKind::pointer ? 5 : V;
    auto tokens = torch::randint(4, end_id, {T + 2}, torch::kInt64);
    tokens[0] = 2;
    tokens[T + 1] = 3;
    return tokens;
  }

  static torch::Tensor padded(const std::vector<torch::Tensor>& rows) {
    std::int64_t longest = 0;
    for (const auto& row : rows) longest = std::max(longest, row.size(0));
    auto sizes = rows[0].sizes().vec();
    sizes[0] = longest;
    sizes.insert(sizes.begin(), static_cast<std::int64_t>(rows.size()));
    auto all = torch::zeros(sizes, rows[0].options());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      all[static_cast<std::int64_t>(i)].narrow(0, 0, rows[i].size(0)).copy_(rows[i]);
    }
    return all;
  }

  // Returns the sources of sentences.
  SourceBatch batch_of(const std::vector<torch::Tensor>& sources) const {
    std::vector<std::int64_t> lengths;
    for (const auto& source : sources) lengths.push_back(source.size(0));
    const auto all = padded(sources);
    SourceBatch::Values values = SourceIds{all};
    if (options_.output.kind == OutputKind::copy) {
      values = CopyIds{all.select(2, 0), all.select(2, 1)};
    }
    if (options_.encoder.numbers > 0) values = SourceVectors{all};
    return {values, torch::tensor(lengths)};
  }

  using Decode = std::function<std::vector<std::vector<Hypothesis>>(const SourceBatch& source,
                                                                    const torch::Tensor& target)>;

  // Translates in batches of `size`, in the order of the sentences.
  Answers answers(std::size_t size, const Decode& decode) const {
    Answers all;
    for (std::size_t begin = 0; begin < sentences_.size(); begin += size) {
      std::vector<torch::Tensor> sources;
      std::vector<torch::Tensor> targets;
      for (auto i = begin; i < std::min(begin + size, sentences_.size()); ++i) {
        sources.push_back(sentences_[i].source);
        targets.push_back(sentences_[i].target);
      }
      for (const auto& hypotheses : decode(batch_of(sources), padded(targets))) {
        all.emplace_back();
        for (const auto& hypothesis : hypotheses) all.back().push_back(found_of(hypothesis));
      }
    }
    return all;
  }
  static Found found_of(const Hypothesis& hypothesis) {
    Found found{hypothesis.tokens, hypothesis.finished, hypothesis.token_log_p, hypothesis.weights};
    found.figures.push_back(hypothesis.log_probability);
    found.figures.push_back(hypothesis.score);
    return found;
  }

  void expect_same_in_all_batches(const Decode& decode) const {
    const auto alone = answers(1, decode);
    ASSERT_EQ(alone.size(), sentences_.size());
    for (const std::size_t size : {3, 64}) {
      const auto together = answers(size, decode);
      ASSERT_EQ(together.size(), alone.size());
      for (std::size_t i = 0; i < alone.size(); ++i) {
        ASSERT_FALSE(alone[i].empty());
        EXPECT_FALSE(std::isnan(alone[i][0].figures.back()));
        // Only the first difference of each list is reported.
        ASSERT_EQ(together[i], alone[i]) << "batches of " << size << ", sentence " << i << " of "
                                         << sentences_[i].source.size(0) << " tokens";
      }
    }
  }
  // Translates in one running search, which sentences join after every second step, three at once.
  // Sentence 0 joins twice and is removed once.
  Answers joined_answers(const SearchRequest& options, kernels::PackedWeights& packed) const {
    Answers all(sentences_.size());
    RunningSearch running(*model_, options, packed);
    const auto removed = sentences_.size();
    const auto add = [&](std::vector<std::size_t> ids) {
      std::vector<torch::Tensor> sources;
      for (const auto id : ids) sources.push_back(sentences_[id % removed].source);
      running.add(batch_of(sources), std::vector<SentenceOptions>(ids.size()), ids);
    };
    add({removed, 0});
    std::size_t next = 1;
    for (std::int64_t steps = 1; running.size() > 0 || next < sentences_.size(); ++steps) {
      for (const auto& [id, hypotheses] : running.step()) {
        if (id == removed) continue;
        EXPECT_TRUE(all[id].empty()) << "sentence " << id << " is finished twice";
        for (const auto& hypothesis : hypotheses) all[id].push_back(found_of(hypothesis));
      }
      if (steps == 3) running.remove({removed});
      std::vector<std::size_t> ids;
      while (steps % 2 == 0 && ids.size() < 3 && next < sentences_.size()) ids.push_back(next++);
      if (!ids.empty()) add(ids);
    }
    return all;
  }
  // With a shortlist for each sentence: up to `size` tokens and the special ones; 0: no shortlists.
  void expect_same_search(
      const std::string& name, SearchRequest options, std::int64_t size = 0,
      kernels::Precision precision = kernels::find_precision("auto", torch::kCPU)) const {
    SCOPED_TRACE(name + " of " + std::to_string(size));
    options.max_output_length = 8;
    options.want_weights = true;
    kernels::PackedWeights packed(precision);
    expect_same_in_all_batches([&](const auto& source, const auto&) {
      std::vector<SentenceOptions> sentences(static_cast<std::size_t>(source.size()));
      for (std::size_t b = 0; size > 0 && b < sentences.size(); ++b) {
        const auto first =
            source.elements()[static_cast<std::int64_t>(b)][0].template item<std::int64_t>();
        std::set<std::int32_t> tokens = {1, 3};
        for (std::int64_t i = 0; i < 1 + first % size; ++i) {
          tokens.insert(static_cast<std::int32_t>(4 + (first * 31 + i * 17) % (V - 4)));
        }
        sentences[b].shortlist.assign(tokens.begin(), tokens.end());
      }
      return search(*model_, source, options, sentences, packed);
    });
    if (size > 0) return;
    const auto alone = answers(1, [&](const auto& source, const auto&) {
      return search(*model_, source, options, {}, packed);
    });
    const auto joined = joined_answers(options, packed);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      ASSERT_EQ(joined[i], alone[i]) << "joined a running search, sentence " << i << " of "
                                     << sentences_[i].source.size(0) << " tokens";
    }
  }
  // A shortlist of all tokens but the suppressed ones finds the same translations.
  void expect_all_tokens_as_a_shortlist() const {
    SearchRequest options;
    options.beam_size = 4;
    options.max_output_length = 8;
    SentenceOptions all;
    for (std::int32_t token = 0; token < V; ++token) all.shortlist.push_back(token);
    const auto source = batch_of({sentences_[4].source});
    const auto expected = search(*model_, source, options)[0];
    const auto found = search(*model_, source, options, {all})[0];
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found_of(found[i]), found_of(expected[i])) << i;
    }
  }

  ModelOptions options_;
  std::shared_ptr<Seq2Seq> model_;
  std::vector<Sentence> sentences_;
};

class BatchInvariance : public testing::TestWithParam<Family> {};

TEST_P(BatchInvariance, ResultsDoNotDependOnTheBatch) {
  for (const auto& tested : GetParam().cases) {
    SCOPED_TRACE(tested.name);
    const TestedModel model(tested);
    model.expect_same_searches();
    model.expect_same_scores();
    if (tested.members == 1) model.expect_same_self_attention();
    model.expect_scores_equal_steps();
    model.expect_scores_of_a_search();
  }
}

// Widths that are no multiples of a vector register, and heads of 18.
ModelOptions odd() {
  ModelOptions options;
  auto& encoder = options.encoder;
  auto& decoder = options.decoder;
  encoder.embedding_dim = 23;
  encoder.hidden_size = 36;
  decoder.embedding_dim = 25;
  decoder.hidden_size = 70;
  decoder.readout_size = 45;
  encoder.self_attention.heads = decoder.self_attention.heads = 4;
  encoder.self_attention.feed_forward_size = decoder.self_attention.feed_forward_size = 99;
  options.attention.size = options.output.size = 51;
  options.attention.heads = 4;
  options.attention.window = 3;
  options.attention.max_positions = 70;
  return options;
}

void set_transformer(EncoderOptions& encoder) {
  encoder.kind = EncoderKind::transformer;
  encoder.embedding_dim = encoder.hidden_size = 76;
  encoder.layers = 2;
}

void set_transformer(DecoderOptions& decoder) {
  decoder.kind = LayerKind::transformer;
  decoder.embedding_dim = decoder.hidden_size = 76;
  decoder.layers = 2;
}

void set_attention(ModelOptions& options, const std::string& kind) {
  options.attention.kind = kind_named(kind);
  const bool has_keys = kind == "dot" || kind == "scaled_dot" || kind == "cosine";
  options.attention.project_keys = has_keys ? ProjectKeys::yes : ProjectKeys::automatic;
  if (kind == "multi_head") options.attention.size = options.attention.size / 4 * 4;
}

// One kind of attention with every cell and every encoder.
std::vector<Case> cases_of_attention(const std::string& kind) {
  std::vector<Case> all;
  auto options = odd();
  set_attention(options, kind);
  all.push_back({"gru", options});
  options.encoder.cell = options.decoder.cell = CellKind::lstm;
  options.encoder.self_attention_layers = 1;
  all.push_back({"lstm under self-attention", options});
  options.encoder.self_attention_layers = 0;
  options.encoder.cell = options.decoder.cell = CellKind::tanh;
  options.encoder.layers = options.decoder.layers = 2;
  options.encoder.layer_norm = options.decoder.layer_norm = true;
  options.decoder.residual = true;
  all.push_back({"stack of tanh", options});
  options = odd();
  set_attention(options, kind);
  set_transformer(options.encoder);
  all.push_back({"over a transformer", options});
  return all;
}

// Every score, in local_m and, by turns, in the other kinds of attention that contain one.
std::vector<Case> cases_of_scores() {
  std::vector<Case> all;
  for (const auto score : content_scores()) {
    for (const std::string kind : {"local_m", all.size() % 4 == 0 ? "local_p" : "hard"}) {
      auto options = odd();
      set_attention(options, kind);
      options.attention.score = score;
      const bool has_keys = score != AttentionKind::additive && score != AttentionKind::concat &&
                            score != AttentionKind::general;
      options.attention.project_keys = has_keys ? ProjectKeys::yes : ProjectKeys::automatic;
      all.push_back({kind + " by " + std::string(enum_name(score)), options});
    }
  }
  return all;
}

// Every variant of the recurrent decoder.
std::vector<Case> cases_of_decoder(CellKind cell) {
  std::vector<Case> all;
  auto options = odd();
  options.encoder.cell = options.decoder.cell = cell;
  options.decoder.query = Query::between;
  all.push_back({"conditional", options});
  options.decoder.query = Query::new_;
  options.decoder.input_feeding = true;
  options.decoder.initial_state = InitialState::mean;
  all.push_back({"input feeding", options});
  options.attention.kind = AttentionKind::none;
  options.attention.fixed_context = FixedContext::mean;
  options.decoder.query = Query::last;
  all.push_back({"mean context", options});
  options.attention.fixed_context = FixedContext::initial;
  options.decoder.input_feeding = false;
  options.encoder.bidirectional = false;
  options.encoder.reverse = true;
  options.encoder.layers = options.decoder.layers = 2;
  options.decoder.hidden_size = options.encoder.hidden_size;
  options.decoder.initial_state = InitialState::layers;
  all.push_back({"no context after the first state", options});
  options = odd();
  options.encoder.cell = options.decoder.cell = cell;
  options.decoder.input_feeding = true;
  options.decoder.initial_state = InitialState::mean;
  set_attention(options, "multi_head");
  options.decoder.query = Query::between;
  all.push_back({"conditional multi_head", options});
  options = odd();
  options.encoder.cell = options.decoder.cell = cell;
  options.encoder.reset_gate = options.decoder.reset_gate = ResetGate::after;
  options.decoder.initial_state = InitialState::last;
  options.decoder.hidden_size = 72;
  all.push_back({"reset gate after the product", options});
  options.encoder.bidirectional = false;
  options.decoder.initial_state = InitialState::zero;
  all.push_back({"one way", options});
  return all;
}

// Every output layer with both decoders.
std::vector<Case> cases_of_output(OutputKind kind) {
  std::vector<Case> all;
  auto options = odd();
  options.output.kind = kind;
  // A pointer feeds the decoder with embeddings of the source.
  if (kind == OutputKind::pointer) options.decoder.embedding_dim = options.encoder.embedding_dim;
  all.push_back({"additive", options});
  set_attention(options, "multi_head");
  all.push_back({"multi_head", options});
  set_attention(options, "coverage");
  options.decoder.input_feeding = true;
  all.push_back({"coverage with input feeding", options});
  options = odd();
  options.output.kind = kind;
  set_transformer(options.encoder);
  set_transformer(options.decoder);
  all.push_back({"transformer", options});
  return all;
}

std::vector<Case> cases_of_transformer() {
  std::vector<Case> all;
  auto options = odd();
  set_transformer(options.decoder);
  all.push_back({"over gru", options});
  options.encoder.self_attention_layers = 2;
  options.encoder.cell = CellKind::lstm;
  all.push_back({"over lstm under self-attention", options});
  options = odd();
  set_transformer(options.encoder);
  set_transformer(options.decoder);
  all.push_back({"pre", options});
  options.encoder.self_attention.norm = options.decoder.self_attention.norm = NormPlacement::post;
  options.encoder.self_attention.position = PositionKind::learned;
  options.decoder.self_attention.position = PositionKind::learned;
  options.decoder.layers = 1;
  all.push_back({"post", options});
  for (auto* side : {&options.encoder.self_attention, &options.decoder.self_attention}) {
    side->position = PositionKind::rotary;
    side->heads = 2;  // an even width of 38
  }
  all.push_back({"rotary", options});
  options.encoder.kind = EncoderKind::recurrent;
  options.encoder.self_attention_layers = 2;
  all.push_back({"over gru under rotary self-attention", options});
  options = odd();
  options.encoder.numbers = 5;
  all.push_back({"numbers", options});
  options.encoder.frame_stacking = 3;
  options.encoder.pyramidal = true;
  options.encoder.layers = 3;
  set_attention(options, "location_aware");
  all.push_back({"stacked and pyramidal", options});
  options.encoder.self_attention_layers = 1;
  all.push_back({"stacked and pyramidal under self-attention", options});
  set_transformer(options.decoder);
  all.push_back({"over a pyramid", options});
  return all;
}

// Images of 12 × 8 pixels with blocks of 19 and 38 channels.
std::vector<Case> cases_of_images() {
  std::vector<Case> all;
  auto options = odd();
  options.encoder.kind = EncoderKind::convolutional;
  options.encoder.image_height = 12;
  options.encoder.numbers = 24;
  options.encoder.layers = 2;
  options.encoder.hidden_size = 38;
  for (const std::string kind : {"additive", "hard", "multi_head", "coverage"}) {
    set_attention(options, kind);
    all.push_back({kind, options});
  }
  set_transformer(options.decoder);
  all.push_back({"transformer", options});
  return all;
}

// Common widths: of a GRU first, of a Transformer last.
std::vector<Case> cases_of_width(std::int64_t D) {
  std::vector<Case> all;
  ModelOptions options;
  options.encoder.embedding_dim = options.decoder.embedding_dim = D / 2;
  options.encoder.hidden_size = options.decoder.hidden_size = D;
  options.decoder.readout_size = options.attention.size = D;
  options.encoder.self_attention.feed_forward_size = 2 * D;
  all.push_back({"additive", options});
  options.encoder.cell = options.decoder.cell = CellKind::lstm;
  options.encoder.self_attention_layers = 1;
  for (const std::string kind : {"ntm", "multi_head", "coverage", "local_p"}) {
    set_attention(options, kind);
    all.push_back({kind + " with lstm under self-attention", options});
  }
  options = odd();
  set_transformer(options.encoder);
  set_transformer(options.decoder);
  options.encoder.embedding_dim = options.encoder.hidden_size = D;
  options.decoder.embedding_dim = options.decoder.hidden_size = D;
  options.encoder.self_attention.feed_forward_size = 2 * D;
  options.decoder.self_attention.feed_forward_size = 2 * D;
  all.push_back({"transformer", options});
  return all;
}

std::vector<Case> cases_of_ensemble() {
  auto options = odd();
  std::vector<Case> all = {{"log linear", options, 2, EnsembleMean::log_linear},
                           {"linear", options, 3, EnsembleMean::linear}};
  options.output.kind = OutputKind::copy;
  all.push_back({"linear, of copying members", options, 2, EnsembleMean::linear});
  return all;
}

std::vector<Family> families() {
  std::vector<Family> all;
  for (const auto& kind : choice_names<AttentionKind>()) {
    all.push_back({"attention_" + kind, cases_of_attention(kind)});
  }
  all.push_back({"scores", cases_of_scores()});
  for (const auto cell : {CellKind::gru, CellKind::lstm, CellKind::tanh}) {
    const std::string name(enum_names(cell)[static_cast<std::size_t>(cell)]);
    all.push_back({"decoder_" + name, cases_of_decoder(cell)});
  }
  for (const auto kind : {OutputKind::copy, OutputKind::pointer}) {
    const std::string name(enum_names(kind)[static_cast<std::size_t>(kind)]);
    all.push_back({"output_" + name, cases_of_output(kind)});
  }
  all.push_back({"transformer", cases_of_transformer()});
  all.push_back({"images", cases_of_images()});
  const auto narrow = cases_of_width(64);
  all.push_back({"width_64", {narrow.front(), narrow.back()}});
  all.push_back({"width_256", cases_of_width(256)});
  all.push_back({"ensemble", cases_of_ensemble()});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, BatchInvariance, testing::ValuesIn(families()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace regard::batch_invariance_reference_test
