// Outputs other than a vocabulary, trained from nothing: a pointer must learn to sort numbers, and
// a model that copies must say words that it has never seen. Whole sequences right, greedy, unseen
// in training.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/learning/lesson.h"

namespace regard::learning_outputs_test {
namespace {

// The share of 300 unseen examples that are right.
double learn(ModelOptions options, std::int64_t V, const Draw& draw) {
  options.encoder.embedding_dim = options.encoder.hidden_size = 32;
  options.decoder.embedding_dim = options.decoder.kind == LayerKind::transformer ? 64 : 32;
  options.decoder.hidden_size = options.decoder.readout_size = 64;
  options.decoder.self_attention.feed_forward_size = 128;
  options.attention.size = options.output.size = 32;
  options.dropout = {0, 0, 0};
  return share_learnt(options, {.vocabulary_size = V,
                                .draw = draw,
                                .test_size = 300,
                                .enough = 0.95,
                                .look_every = 50,
                                .batch_size = 32,
                                .learning_rate = 0.005});
}

// Four different tenths, and their positions, the least first.
Example sorting(Random& random) {
  std::vector<std::int32_t> tenths(10);
  std::iota(tenths.begin(), tenths.end(), 0);
  random.shuffle(tenths);
  Example example;
  example.source.assign(4, 4);
  for (std::int32_t i = 0; i < 4; ++i) {
    example.numbers.insert(example.numbers.end(), {static_cast<float>(tenths[i]) / 10, 0});
    example.target.push_back(4 + i);
  }
  example.numbers.insert(example.numbers.end(), {0, 1});
  std::sort(example.target.begin(), example.target.end(),
            [&](auto a, auto b) { return tenths[a - 4] < tenths[b - 4]; });
  return example;
}

constexpr std::int64_t words = 10;

// Source words 4 … 9 become 9 … 4; the others, unknown to both sides, are to be copied.
Example copying(Random& random) {
  Example example;
  std::int32_t next = words;
  for (int i = 0; i < 5; ++i) {
    if (random.below(3) == 0) {
      example.source.push_back(1);
      example.target.push_back(next);
      example.extended_ids.push_back(next++);
    } else {
      const auto word = static_cast<std::int32_t>(4 + random.below(6));
      example.source.push_back(word);
      example.target.push_back(13 - word);
      example.extended_ids.push_back(word);
    }
  }
  example.extended_ids.push_back(3);
  return example;
}

TEST(LearningOutputs, APointerSortsNumbers) {
  ModelOptions options;
  options.encoder.numbers = 1;
  options.attention.kind = AttentionKind::none;
  options.output.kind = OutputKind::pointer;
  EXPECT_GE(learn(options, 5, sorting), 0.95);
}

TEST(LearningOutputs, ACopyingModelSaysWordsThatItDoesNotKnow) {
  ModelOptions options;
  options.output.kind = OutputKind::copy;
  EXPECT_GE(learn(options, words, copying), 0.95);
}

TEST(LearningOutputs, SoDoesOneWithATransformersDecoder) {
  ModelOptions options;
  options.output.kind = OutputKind::copy;
  options.decoder.kind = LayerKind::transformer;
  options.decoder.layers = 2;
  EXPECT_GE(learn(options, words, copying), 0.95);
}

}  // namespace
}  // namespace regard::learning_outputs_test
