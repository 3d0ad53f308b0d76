// regard train: diverging numbers, and too little memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/train.h"

namespace regard::train_numbers_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

using TrainNumbers = Train;

// Returns all numbers of a safetensors file in single precision. They follow the header, whose
// length comes first.
std::vector<float> numbers_in(const fs::path& path) {
  const auto bytes = read_text(path);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<float> numbers((bytes.size() - sizeof header - header) / sizeof(float));
  std::memcpy(numbers.data(), bytes.data() + sizeof header + header,
              numbers.size() * sizeof(float));
  return numbers;
}

TEST_F(TrainNumbers, DivergenceKeepsTheLastCheckpoint) {
  const auto result =
      train({"training.optimizer=sgd", "training.learning_rate=1000", "training.weight_decay=1000",
             "training.clip_grad_norm=0", "training.save_every=1", "training.max_steps=2000",
             "training.validation_every=5000",
             "training.precision=fp32"});  // else the processor decides what overflows first
  EXPECT_EQ(result.code, 4);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("learning_rate"), HasSubstr("The last checkpoint is kept"),
                    HasSubstr("clip_grad_norm (it is off)"),
                    HasSubstr("weights are not finite; they are not saved")));
  EXPECT_THAT(result.err, ContainsRegex("The last batch consists of [^ ]*train.en:[0-9]+, "));
  const auto last = folder_ / "run" / "last";
  EXPECT_EQ(run({"info", last.string()}).code, 0);
  for (const float weight : numbers_in(last / "model.safetensors")) {
    ASSERT_TRUE(std::isfinite(weight));
  }
}

// There is memory for the model and eight sentences, but not for the whole validation text.
TEST_F(TrainNumbers, ValidationUsesSmallerBatchesIfMemoryIsShort) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes all addresses";
#endif
  std::string source, target;
  for (int line = 0; line < 400; ++line) {
    for (int word = 0; word < 60; ++word) source += "the ", target += "le ";
    source += "\n", target += "\n";
  }
  write_text(folder_ / "dev.en", source);
  write_text(folder_ / "dev.fr", target);
  const std::vector<std::string> settings = {"threads=1",
                                             "search.batch_size=400",
                                             "search.max_output_length=3",
                                             "model.decoder.hidden_size=256",
                                             "model.decoder.readout_size=2000",
                                             "training.max_steps=2",
                                             "training.validation_every=2"};
  std::string command = "ulimit -v 1200000; exec " + std::string(REGARD_BINARY_DIR) +
                        "/regard train -c " + config_.string();
  for (const auto& setting : settings) command += " " + setting;
  const auto messages = (folder_ / "messages").string();
  const auto code = std::system(("bash -c '" + command + " 2>" + messages + "'").c_str());
  EXPECT_EQ(WEXITSTATUS(code), 0) << read_text(messages);
  EXPECT_THAT(read_text(messages), HasSubstr("validation: not enough memory"));
  EXPECT_TRUE(fs::exists(folder_ / "run" / "last" / "model.safetensors"));
}

// Each update multiplies the weights by 1 − 38 · 0.1, so they diverge. With half of the rate the
// factor is 1 − 19 · 0.1, whose absolute value is less than 1.
TEST_F(TrainNumbers, DivergedTrainingRollsBackWithHalfTheRate) {
  const Words options = {
      "training.optimizer=sgd",  "training.learning_rate=0.1",     "training.weight_decay=38",
      "training.momentum=0",     "training.clip_grad_norm=0.01",   "training.save_every=10",
      "training.max_steps=100",  "training.validation_every=5000", "training.scheduling=constant",
      "training.warmup_steps=0", "training.keep_newest=3"};
  const auto result = train(options);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("skipped the batch"), HasSubstr("5 times in a row"),
                    HasSubstr("Rolling back to"), HasSubstr("half of the learning rate"),
                    ContainsRegex("Skipped [0-9]+ batch")));
  EXPECT_THAT(read_text(folder_ / "run" / "last" / "training.json"),
              ContainsRegex("\"rollbacks\": [12],"));
  const auto bytes = weights();
  EXPECT_EQ(train(options + Words{"--fresh"}).code, 0);
  EXPECT_EQ(weights(), bytes);
}

// A perplexity of e^100 or more is written with an exponent, and one thread is "1 thread".
TEST_F(TrainNumbers, LargeNumbersHaveAnExponent) {
  const auto result =
      train({"training.optimizer=sgd", "training.learning_rate=100", "training.clip_grad_norm=0",
             "training.scheduling=constant", "training.warmup_steps=0", "training.max_steps=3",
             "threads=1", "training.validation_every=3", "training.validation_unit=steps"});
  EXPECT_EQ(result.code, 0) << result.err;
  const auto model = (folder_ / "run").string();
  const auto source = (folder_ / "dev.en").string(), target = (folder_ / "dev.fr").string();
  auto printed = read_text(folder_ / "run" / "train.log");
  printed += run({"evaluate", "-m", model, "-s", source, "-r", target}).out;
  printed += run({"evaluate", "-m", model, "-s", source, "-r", target, "--format", "markdown"}).out;
  printed += run({"score", "-m", model, "-s", source, "-t", target}).err;
  printed += run({"info", model}).out;
  EXPECT_THAT(printed, ContainsRegex("perplexity [0-9.]+e[0-9]+"));
  EXPECT_THAT(printed, ContainsRegex("perplexity = [0-9.]+e[0-9]+"));
  EXPECT_THAT(printed, Not(ContainsRegex("[0-9]{16}")));  // hashes have letters in between
  EXPECT_THAT(printed, HasSubstr("with 1 thread in "));
  EXPECT_THAT(printed, Not(ContainsRegex("[^0-9.]1 [a-z]+s[ ,]")));
}

}  // namespace
}  // namespace regard::train_numbers_test
