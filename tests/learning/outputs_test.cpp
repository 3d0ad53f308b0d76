// Outputs other than a vocabulary, trained from nothing: a pointer must learn to sort numbers, and
// a model that copies must say words that it has never seen. Whole sequences right, greedy, unseen
// in training.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/random.h"
#include "data/batch.h"
#include "decoding/search.h"
#include "model/build_model.h"
#include "optim/optimizer.h"
#include "training/train_step.h"

namespace regard {
namespace {

using Draw = std::function<Example(Random&)>;

std::vector<Example> drawn(const Draw& draw, Random& random, std::size_t n) {
  std::vector<Example> examples;
  for (std::size_t i = 0; i < n; ++i) {
    examples.push_back(draw(random));
    examples.back().index = static_cast<std::int64_t>(i);
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
    right += found[row][0].tokens == examples[static_cast<std::size_t>(batch.indices[row])].target;
  }
  return static_cast<double>(right) / static_cast<double>(found.size());
}

// The share of 300 unseen examples that are right after training on as many steps as it takes.
double learn(ModelOptions options, std::int64_t V, const Draw& seen, const Draw& unseen) {
  torch::manual_seed(1);
  Random random(1);
  options.encoder.embedding_dim = options.decoder.embedding_dim = 32;
  options.encoder.hidden_size = 32;
  options.decoder.hidden_size = options.decoder.readout_size = 64;
  options.attention.size = options.output.size = 32;
  options.dropout = {0, 0, 0};
  const auto model = build_model(V, V, options);

  TrainingOptions training;
  training.learning_rate = 0.005;
  training.label_smoothing = 0;
  const auto parameters = parameters_of(*model);
  const auto optimizer = make_optimizer(training, parameters);
  Workers workers;
  const auto test = drawn(unseen, random, 300);
  double right = 0;
  for (int step = 1; step <= 1500 && right < 0.95; ++step) {
    model->train();
    train_step(*model, *optimizer, tensors_of(parameters), {make_batch(drawn(seen, random, 32))},
               {step, training.learning_rate}, training, workers);
    if (step % 50 == 0) right = share_right(*model, test);
  }
  return right;
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
      example.copies.push_back(next++);
    } else {
      const auto word = static_cast<std::int32_t>(4 + random.below(6));
      example.source.push_back(word);
      example.target.push_back(13 - word);
      example.copies.push_back(word);
    }
  }
  example.copies.push_back(3);
  return example;
}

TEST(LearningOutputs, APointerSortsNumbers) {
  ModelOptions options;
  options.encoder.numbers = 1;
  options.attention.kind = "none";
  options.output.kind = OutputKind::pointer;
  EXPECT_GE(learn(options, 5, sorting, sorting), 0.95);
}

TEST(LearningOutputs, ACopyingModelSaysWordsThatItDoesNotKnow) {
  ModelOptions options;
  options.output.kind = OutputKind::copy;
  EXPECT_GE(learn(options, words, copying, copying), 0.95);
}

}  // namespace
}  // namespace regard
