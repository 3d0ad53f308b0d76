// Trained from nothing, each kind of model must learn to reverse random sequences, some to copy
// them: what no fixed rule of its parts could do by accident. Whole sequences right, greedy, unseen
// in training.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tests/learning/lesson.h"
#include "tests/model/attention_kind.h"

namespace regard::copy_and_reverse_test {
namespace {

constexpr std::int64_t V = 14;  // ten symbols and the four special ones

Example copying(Random& random) {
  Example example;
  example.source.resize(3 + random.below(6));
  for (auto& token : example.source) token = static_cast<std::int32_t>(4 + random.below(10));
  example.target = example.source;
  return example;
}

Example reversing(Random& random) {
  auto example = copying(random);
  std::reverse(example.target.begin(), example.target.end());
  return example;
}

// Two layers of its one width, as these are small.
template <typename Side>
Side transformer(Side side) {
  side.kind = decltype(side.kind)::transformer;
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
void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.name;
}

ModelOptions small() {
  ModelOptions options;
  options.encoder.embedding_dim = options.decoder.embedding_dim = 32;
  options.encoder.hidden_size = options.decoder.hidden_size = 64;
  options.decoder.readout_size = 64;
  options.attention.size = 64;
  options.attention.project_keys = ProjectKeys::yes;
  options.dropout = {0, 0, 0, 0};
  return options;
}

Case recurrent(const std::string& kind) {
  Case found{kind, small()};
  found.options.attention.kind = kind_named(kind);
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

// The share of 500 unseen sequences that are right.
double learn(const ModelOptions& options, const Draw& draw) {
  return share_learnt(options, {.vocabulary_size = V,
                                .draw = draw,
                                .test_size = 500,
                                .enough = 0.98,
                                .look_every = 100,
                                .batch_size = 64,
                                .learning_rate = 0.003});
}

class Copying : public testing::TestWithParam<Case> {};
class Reversing : public testing::TestWithParam<Case> {};

TEST_P(Copying, IsLearnt) {
  EXPECT_GE(learn(GetParam().options, copying), 0.98);
}
TEST_P(Reversing, IsLearnt) {
  EXPECT_GE(learn(GetParam().options, reversing), 0.98);
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
    recurrent("location_aware"),
    pair("transformer", true, true),
    pair("transformer_encoder", true, false),
    pair("transformer_decoder", false, true),
    self_attention_on_top(),
    cells("lstm", CellKind::lstm),
    cells("tanh", CellKind::tanh),
    deep(),
};
const auto name_of = [](const auto& tested) { return tested.param.name; };
INSTANTIATE_TEST_SUITE_P(Kinds, Reversing, testing::ValuesIn(cases), name_of);
// A kind that can reverse must find each position, as for copying. So only a few copy too, among
// them `local_m`, whose window goes forward, and `monotonic`, which goes forward only.
INSTANTIATE_TEST_SUITE_P(Kinds, Copying,
                         testing::Values(recurrent("additive"), pair("transformer", true, true),
                                         recurrent("local_m"),
                                         hard("reinforce", HardEstimator::reinforce),
                                         recurrent("monotonic")),
                         name_of);

// Kinds that cannot be expected to reverse or to copy: figures for docs/attention.md, not asserted.
class OfOthers : public testing::TestWithParam<Case> {};

TEST_P(OfOthers, DISABLED_Figures) {
  for (const auto& [name, draw] :
       {std::pair<std::string, Draw>{"copied", copying}, {"reversed", reversing}}) {
    std::printf("%s: %.1f %% %s\n", GetParam().name.c_str(), 100 * learn(GetParam().options, draw),
                name.c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, OfOthers,
                         testing::Values(recurrent("none"), recurrent("monotonic")), name_of);

}  // namespace
}  // namespace regard::copy_and_reverse_test
