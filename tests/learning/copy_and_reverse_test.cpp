// Trained from nothing, the model must learn to copy and to reverse random sequences: what no
// fixed rule of its parts could do by accident. Whole sequences right, greedy, unseen in training.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

#include "base/random.h"
#include "data/batch.h"
#include "decoding/search.h"
#include "model/attention/table.h"
#include "model/build_model.h"
#include "optim/optimizer.h"
#include "training/train_step.h"

namespace regard {
namespace {

constexpr std::int64_t V = 14;  // ten symbols and the four special ones

std::vector<Example> random_examples(Random& random, std::size_t n, bool reverse) {
  std::vector<Example> examples(n);
  for (auto& example : examples) {
    example.source.resize(3 + random.below(6));
    for (auto& token : example.source) token = static_cast<std::int32_t>(4 + random.below(10));
    example.target = example.source;
    if (reverse) std::reverse(example.target.begin(), example.target.end());
  }
  return examples;
}

double share_right(Seq2Seq& model, const std::vector<Example>& examples) {
  model.eval();
  SearchOptions options;
  options.beam_size = 1;
  const auto batch = make_batch(examples);
  const auto found = search(model, batch.source, batch.source_lengths, options);
  std::int64_t right = 0;
  for (std::size_t row = 0; row < found.size(); ++row) {
    right += found[row][0].tokens == examples[batch.indices[row]].target;
  }
  return static_cast<double>(right) / static_cast<double>(found.size());
}

// Two layers of its one width, as these are small.
template <typename Side>
Side transformer(Side side) {
  side.kind = LayerKind::transformer;
  side.embedding_dim = side.hidden_size = 64;
  side.layers = 2;
  side.self_attention.heads = 4;
  side.self_attention.feed_forward_size = 128;
  return side;
}

struct Case {
  std::string name;
  ModelOptions options;
};

ModelOptions small() {
  ModelOptions options;
  options.encoder.embedding_dim = options.decoder.embedding_dim = 32;
  options.encoder.hidden_size = options.decoder.hidden_size = 64;
  options.decoder.readout_size = 64;
  options.attention.size = 64;
  options.attention.project_keys = true;
  options.dropout = {0, 0, 0, 0};
  return options;
}

Case recurrent(const std::string& kind) {
  Case found{kind, small()};
  found.options.attention.kind = kind;
  return found;
}

Case hard(const std::string& name, HardEstimator estimator) {
  auto found = recurrent("hard");
  found.name += "_" + name;
  found.options.attention.estimator = estimator;
  found.options.attention.anneal_steps = 500;
  return found;
}

Case pair(const std::string& name, bool encoder, bool decoder) {
  Case found{name, small()};
  if (encoder) found.options.encoder = transformer(found.options.encoder);
  if (decoder) found.options.decoder = transformer(found.options.decoder);
  return found;
}

Case cells(const std::string& name, CellKind cell) {
  Case found{name, small()};
  found.options.encoder.cell = found.options.decoder.cell = cell;
  return found;
}

Case deep() {
  Case found{"four_layers", small()};
  for (auto* layers : {&found.options.encoder.layers, &found.options.decoder.layers}) *layers = 4;
  found.options.encoder.residual = found.options.decoder.residual = true;
  found.options.encoder.layer_norm = found.options.decoder.layer_norm = true;
  return found;
}

Case self_attention_on_top() {
  Case found{"self_attention_layers", small()};
  found.options.encoder.self_attention_layers = 1;
  return found;
}

double learn(const ModelOptions& options, bool reverse) {
  torch::manual_seed(1);
  Random random(1);
  const auto model = build_model(V, V, options);

  TrainingOptions training;
  training.learning_rate = 0.003;
  training.label_smoothing = 0;
  const auto parameters = parameters_of(*model);
  const auto optimizer = make_optimizer(training, parameters);
  Workers workers;

  std::vector<Example> test = random_examples(random, 500, reverse);
  for (std::size_t i = 0; i < test.size(); ++i) test[i].index = static_cast<std::int64_t>(i);
  double right = 0;
  for (int step = 1; step <= 1500 && right < 0.98; ++step) {
    model->train();
    train_step(*model, *optimizer, tensors_of(parameters),
               {make_batch(random_examples(random, 64, reverse))}, {step, training.learning_rate},
               training, workers);
    if (step % 100 == 0) right = share_right(*model, test);
  }
  return right;
}

class Copying : public testing::TestWithParam<Case> {};
class Reversing : public testing::TestWithParam<Case> {};

TEST_P(Copying, IsLearnt) {
  EXPECT_GE(learn(GetParam().options, false), 0.98);
}
TEST_P(Reversing, IsLearnt) {
  EXPECT_GE(learn(GetParam().options, true), 0.98);
}

const std::vector<Case> cases = {
    recurrent("additive"),
    recurrent("concat"),
    recurrent("dot"),
    recurrent("scaled_dot"),
    recurrent("general"),
    recurrent("cosine"),
    recurrent("location"),
    recurrent("local_m"),
    recurrent("local_p"),
    hard("reinforce", HardEstimator::reinforce),
    hard("gumbel", HardEstimator::gumbel),
    recurrent("ntm"),
    recurrent("multi_head"),
    recurrent("coverage"),
    pair("transformer", true, true),
    pair("transformer_encoder", true, false),
    pair("transformer_decoder", false, true),
    self_attention_on_top(),
    cells("lstm", CellKind::lstm),
    cells("tanh", CellKind::tanh),
    deep(),
};
const auto name_of = [](const auto& tested) { return tested.param.name; };
INSTANTIATE_TEST_SUITE_P(Kinds, Copying, testing::ValuesIn(cases), name_of);
INSTANTIATE_TEST_SUITE_P(Kinds, Reversing, testing::ValuesIn(cases), name_of);

}  // namespace
}  // namespace regard
