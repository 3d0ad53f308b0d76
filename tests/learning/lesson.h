// Training from nothing on examples that are drawn, and the share of unseen ones that a greedy
// search then gets wholly right.
#pragma once

#include <torch/types.h>
#include <torch/utils.h>

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "data/batch.h"
#include "decoding/search.h"
#include "model/build_model.h"
#include "training/position.h"
#include "training/train_step.h"

namespace regard {

using Draw = std::function<Example(Random&)>;

struct Lesson {
  std::int64_t vocabulary_size;  // on each side
  Draw draw;
  std::size_t test_size;
  double enough;  // the share that ends the lesson, looked at every so many steps
  int look_every;
  std::size_t batch_size;
  double learning_rate;
};

inline std::vector<Example> drawn(const Draw& draw, Random& random, std::size_t n) {
  std::vector<Example> examples;
  for (std::size_t i = 0; i < n; ++i) {
    examples.push_back(draw(random));
    examples.back().index = static_cast<std::int64_t>(i);
  }
  return examples;
}

using Source = std::pair<std::vector<std::int32_t>, std::vector<float>>;  // tokens and numbers

inline std::set<Source> sources_of(const std::vector<Example>& examples) {
  std::set<Source> sources;
  for (const auto& example : examples) sources.emplace(example.source, example.numbers);
  return sources;
}

// Returns n examples whose sources are not among `known`.
inline std::vector<Example> drawn_unseen(const Draw& draw, Random& random, std::size_t n,
                                         const std::set<Source>& known) {
  const auto other = [&](Random& from) {
    auto example = draw(from);
    while (known.contains({example.source, example.numbers})) example = draw(from);
    return example;
  };
  return drawn(other, random, n);
}

inline double share_right(Seq2Seq& model, const std::vector<Example>& examples) {
  model.eval();
  SearchRequest options;
  options.beam_size = 1;
  const auto batch = make_batch(examples);
  const auto found = search(model, batch.source, options);
  std::int64_t right = 0;
  for (std::size_t row = 0; row < found.size(); ++row) {
    right += found[row][0].tokens == examples[static_cast<std::size_t>(batch.indices[row])].target;
  }
  return static_cast<double>(right) / static_cast<double>(found.size());
}

// After as many steps as it takes, 1,500 at most.
inline double share_learnt(const ModelOptions& options, const Lesson& lesson) {
  torch::manual_seed(1);
  Random random(1);
  const auto model = build_model(lesson.vocabulary_size, lesson.vocabulary_size, options);
  TrainingOptions training;
  training.learning_rate = lesson.learning_rate;
  training.label_smoothing = 0;
  TrainedModel trained(model, training);
  ThreadPool pool;
  ProcessGroup alone;
  const auto test = drawn(lesson.draw, random, lesson.test_size);
  const auto of_test = sources_of(test);
  TrainingPosition position;  // of which the mean log P counts
  double right = 0;
  for (int step = 1; step <= 1500 && right < lesson.enough; ++step) {
    model->train();
    const auto batch = make_batch(drawn_unseen(lesson.draw, random, lesson.batch_size, of_test));
    const auto result =
        train_step(trained, {batch}, {step, training.learning_rate, position.mean_log_p}, training,
                   pool, alone);
    position.update_mean_log_p(-result.nll / static_cast<double>(result.target_tokens));
    if (step % lesson.look_every == 0) right = share_right(*model, test);
  }
  return right;
}

}  // namespace regard
