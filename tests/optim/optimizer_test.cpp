#include "optim/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::optimizer_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

NamedParameters parameters() {
  NamedParameters all;
  for (const auto* name : {"encoder.layer0.W", "encoder.layer1.W", "decoder.W", "output_bias"}) {
    all.emplace_back(name, torch::ones({40}));
  }
  return all;
}

TEST(LearningRateFactors, AreTheProductOfAllPatternsThatMatch) {
  TrainingOptions options;
  EXPECT_THAT(learning_rate_factors(options, parameters()), ElementsAre(1, 1, 1, 1));
  options.learning_rates = {{"encoder.*", 0.5}, {"*.W", 0.1}};
  EXPECT_THAT(learning_rate_factors(options, parameters()), ElementsAre(0.05, 0.05, 0.1, 1));
  options.freeze = {"encoder.layer0.*"};
  EXPECT_THAT(learning_rate_factors(options, parameters()), ElementsAre(0, 0.05, 0.1, 1));
}

std::string problem(const TrainingOptions& options) {
  return message_of<ConfigError>([&] { learning_rate_factors(options, parameters()); });
}

TEST(LearningRateFactors, APatternThatMatchesNothingIsAnErrorWithTheModules) {
  TrainingOptions options;
  options.freeze = {"encodr.*"};
  EXPECT_THAT(problem(options),
              AllOf(HasSubstr("training.freeze: found `encodr.*`, which matches no parameter"),
                    HasSubstr("encoder.layer0, encoder.layer1, decoder, output_bias")));
  options.freeze = {};
  options.learning_rates = {{"encoder.*", 2}, {"decoder", 2}};
  EXPECT_THAT(problem(options),
              HasSubstr("training.learning_rates.1.parameters: found `decoder`, a "
                        "module, expected parameters; write `decoder.*`"));
  options.learning_rates = {{"", 2}};
  EXPECT_THAT(problem(options), HasSubstr("training.learning_rates.0.parameters: missing"));
}

TEST(LearningRateFactors, AModelWithoutATrainedParameterIsAnError) {
  TrainingOptions options;
  options.freeze = {"*"};
  EXPECT_THAT(problem(options), HasSubstr("nothing would be trained"));
}

// Returns the changes of the first number of each parameter after two updates with gradients of 1.
std::vector<double> changes(TrainingOptions options) {
  const auto weights = ParameterBuffer::adopt(parameters());
  const auto gradient = weights.zeros_like();
  const auto optimizer = make_optimizer(options, weights);
  optimizer->set_rate_factors(learning_rate_factors(options, weights.views()));
  ThreadPool pool(2);
  for (int i = 0; i < 2; ++i) {
    gradient.flat().fill_(1);
    optimizer->update(gradient.flat(), 1, 0.25, pool);
  }
  std::vector<double> all;
  for (const auto& [name, parameter] : weights.views()) {
    EXPECT_TRUE(parameter.eq(parameter[0]).all().item<bool>()) << name;
    all.push_back(parameter[0].item<double>() - 1);
  }
  return all;
}

TEST(Optimizer, MultipliesTheLearningRateByTheFactorOfEachParameter) {
  TrainingOptions options;
  options.optimizer = OptimizerKind::sgd;
  options.learning_rates = {{"encoder.*", 0.5}, {"decoder.*", 2}};
  options.freeze = {"encoder.layer1.*"};
  EXPECT_THAT(changes(options), ElementsAre(-0.25, 0, -1, -0.5));
}

TEST(Optimizer, AFrozenParameterIsNotDecayed) {
  TrainingOptions options;
  options.optimizer = OptimizerKind::adamw;
  options.weight_decay = 0.1;
  options.freeze = {"encoder.*"};
  const auto all = changes(options);
  EXPECT_EQ(all[0], 0);
  EXPECT_EQ(all[1], 0);
  EXPECT_LT(all[2], -0.4);
  EXPECT_EQ(all[2], all[3]);
}

TEST(Optimizer, GivesEachElementToTheCallerAfterItsUpdate) {
  const auto weights = ParameterBuffer::adopt({{"W", torch::ones({300'000})}});
  const auto optimizer = make_optimizer(TrainingOptions(), weights);
  optimizer->set_rate_factors({1});
  const auto copy = torch::zeros_like(weights.flat()), times = copy.clone();
  ThreadPool pool(2);
  optimizer->update(torch::ones_like(copy), 1, 0.25, pool,
                    [&](std::int64_t begin, std::int64_t end) {
                      const torch::NoGradGuard guard;
                      copy.slice(0, begin, end).copy_(weights.flat().slice(0, begin, end));
                      times.slice(0, begin, end).add_(1);
                    });
  EXPECT_TRUE(torch::equal(copy, weights.flat()));
  EXPECT_TRUE(torch::equal(times, torch::ones_like(times)));
  EXPECT_LT(copy.max().item<double>(), 1);
}

// Returns the updates of a parameter by Adam after `frozen` updates in which it was frozen.
std::vector<double> updates_after(int frozen) {
  TrainingOptions options;
  const auto weights = ParameterBuffer::adopt(parameters());
  const auto gradient = weights.zeros_like();
  const auto optimizer = make_optimizer(options, weights);
  ThreadPool pool(2);
  const auto& W = weights.views().front().second;
  std::vector<double> updates;
  for (int i = 0; i < frozen + 5; ++i) {
    optimizer->set_rate_factors({i < frozen ? 0.0 : 1.0, 1, 1, 1});
    const auto before = W[0].item<double>();
    for (const auto& [name, view] : gradient.views()) view.fill_(i % 2 == 0 ? 1 : -0.5);
    optimizer->update(gradient.flat(), 1, 0.25, pool);
    if (i >= frozen) updates.push_back(W[0].item<double>() - before);
  }
  return updates;
}

// As a graph repeats it: rate, divisor and the decision to skip are numbers in memory.
TEST(Optimizer, AnUpdateOnTheDeviceEqualsThatOfTheThreads) {
  for (const auto kind : {OptimizerKind::adam, OptimizerKind::adamw}) {
    TrainingOptions options;
    options.optimizer = kind;
    options.weight_decay = 0.1;
    const auto updated = [&](bool on_device, int frozen) {
      torch::manual_seed(1);
      const auto weights = ParameterBuffer::adopt(parameters());
      const auto optimizer = make_optimizer(options, weights);
      EXPECT_TRUE(optimizer->has_update_on_device());
      ThreadPool pool(2);
      for (int i = 0; i < 6; ++i) {
        optimizer->set_rate_factors({i < frozen ? 0.0 : 1.0, 0.5, 1, 1});
        const auto gradient = torch::randn_like(weights.flat());
        const auto number = [](double value) { return torch::full({1}, value, torch::kFloat); };
        if (!on_device) {
          if (i == 4) continue;  // a step that is skipped
          optimizer->update(gradient, 0.25, 0.01 * (i + 1), pool);
          continue;
        }
        optimizer->update_on_device(gradient, {.rate = number(0.01 * (i + 1)),
                                               .divisor = number(4).squeeze(),
                                               .skip = number(i == 4 ? 1 : 0)});
        if (i != 4) optimizer->count_update();
      }
      return weights.flat().clone();
    };
    for (const int frozen : {0, 1, 2}) {
      EXPECT_TRUE(updated(true, frozen).allclose(updated(false, frozen), 1e-6, 1e-7)) << frozen;
    }
  }
}

TEST(Optimizer, AParameterThatIsFrozenNoMoreIsUpdatedAsAtTheStart) {
  EXPECT_EQ(updates_after(10), updates_after(0));
  EXPECT_EQ(updates_after(1), updates_after(11));
  EXPECT_NE(updates_after(11), updates_after(0));  // the gradients differ
}

}  // namespace
}  // namespace regard::optimizer_test
