#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/json.h"
#include "tests/cli/run.h"
#include "tests/cli/train.h"

namespace regard::precision_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Returns the precision that is the fastest on this processor: not bf16 with AVX512-BF16 of Intel.
std::string fastest_precision() {
#if defined(__x86_64__)
  if (has_bf16_products() && (has_amx_products() || !__builtin_cpu_is("intel"))) return "bf16";
#endif
  return "fp32";
}

class TrainingPrecision : public Train {
 protected:
  Json manifest() const { return Json::parse(read_text(folder_ / "run" / "manifest.json")); }
};

TEST_F(TrainingPrecision, AutoIsRecordedAndKeptOnResuming) {
  const std::string fastest = fastest_precision();
  ASSERT_EQ(train({"training.max_steps=20"}).code, 0);
  EXPECT_EQ(manifest().at("precision"), fastest);
  EXPECT_THAT(read_text(folder_ / "run" / "config.yaml"), HasSubstr("precision: " + fastest));
  const auto resumed = train({"training.max_steps=30"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, testing::Not(HasSubstr("precision")));
  EXPECT_EQ(manifest().at("precision"), fastest);
}

TEST_F(TrainingPrecision, ARunMovesBetweenPrecisionsWithAWarning) {
  ASSERT_EQ(train({"training.max_steps=20", "training.precision=fp32"}).code, 0);
  EXPECT_EQ(manifest().at("precision"), "fp32");
  const auto kept = train({"training.max_steps=25"});  // auto: as it was
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(manifest().at("precision"), "fp32");
  if (!has_bf16_products()) GTEST_SKIP() << "this processor has no other precision";
  const auto moved = train({"training.max_steps=30", "training.precision=bf16"});
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_THAT(moved.err, HasSubstr("training.precision"));
  EXPECT_EQ(manifest().at("precision"), "bf16");
}

// cli.combinations resumes runs of fp32 and of the fastest precision.
TEST_F(TrainingPrecision, AResumedRunOfBf16EndsInTheSameBytes) {
  if (!has_bf16_products()) GTEST_SKIP() << "this processor has no other precision";
  const auto train_into = [&](const std::string& name, const std::string& precision, int steps) {
    const auto trained =
        train({"training.model_dir=" + path(name), "training.precision=" + precision,
               "training.max_steps=" + std::to_string(steps)});
    EXPECT_EQ(trained.code, 0) << trained.err;
  };
  train_into("fp32", "fp32", 20);
  train_into("whole", "bf16", 20);
  train_into("parts", "bf16", 11);
  train_into("parts", "bf16", 20);
  EXPECT_EQ(weights("whole"), weights("parts"));
  EXPECT_NE(weights("whole"), weights("fp32")) << "bf16 was not used";
}

TEST_F(TrainingPrecision, WhatThisMachineLacksIsAnErrorBeforeAnythingIsWritten) {
  const auto on_cpu = train({"device=cpu", "training.precision=tf32"});
  EXPECT_EQ(on_cpu.code, 6);
  EXPECT_THAT(on_cpu.err, HasSubstr("training.precision: found tf32"));
  EXPECT_FALSE(fs::exists(folder_ / "run" / "config.yaml"));
  const auto unknown = train({"training.precision=fp16"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("expected one of auto, fp32, tf32, bf16"));
  if (has_bf16_products()) return;
  const auto missing = train({"training.precision=bf16"});
  EXPECT_EQ(missing.code, 6);
  EXPECT_THAT(missing.err, HasSubstr("the processor on this machine does not have"));
}

Finished translate(const std::string& precision, const std::string& source,
                   const Words& more = {}) {
  const auto option = precision.empty() ? Words{} : Words{"--precision", precision};
  return run(Words{"translate", "-m", tiny_model().string()} + option + more, source);
}

TEST(DecodingPrecision, TranslatesInEachPrecisionWhateverTheBatchesAndThreads) {
  const auto source = toy_corpus(40, 9).source;
  for (const std::string precision : {"fp32", "tf32", "bf16", "int8"}) {
    const bool is_missing = precision == "tf32" || (precision == "bf16" && !has_bf16_products()) ||
                            (precision == "int8" && !has_int8_products());
    const auto translated = translate(precision, source, {"--n-best", "3"});
    EXPECT_EQ(translated.code, is_missing ? 6 : 0) << precision << translated.err;
    if (is_missing) {
      EXPECT_THAT(translated.err, HasSubstr("precision: found " + precision + ", which needs"));
      continue;
    }
    const auto other =
        translate(precision, source, {"--n-best", "3", "--batch-size", "7", "--threads", "3"});
    EXPECT_EQ(translated.out, other.out) << precision;
  }
}

// Factors of 8 bits change the probabilities, but by little.
TEST(DecodingPrecision, EachPrecisionIsUsed) {
  const auto folder = fresh_folder();
  const auto corpus = toy_corpus(40, 9);
  write_text(folder / "s", corpus.source);
  write_text(folder / "t", corpus.target);
  const auto scores = [&](const std::string& precision) {
    const auto scored = run({"score", "-m", tiny_model().string(), "-s", (folder / "s").string(),
                             "-t", (folder / "t").string(), "--precision", precision});
    EXPECT_EQ(scored.code, 0) << scored.err;
    std::vector<double> found;
    for (const auto& line : lines_of(scored.out)) found.push_back(std::stod(line));
    return found;
  };
  const auto exact = scores("fp32");
  const auto expect_close_but_different = [&](const std::string& precision, double bound) {
    const auto found = scores(precision);
    double largest = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      largest = std::max(largest, std::abs(found[i] - exact[i]));
    }
    EXPECT_GT(largest, 1e-3) << precision;
    EXPECT_LT(largest, bound) << precision;
  };
  if (has_bf16_products()) expect_close_but_different("bf16", 0.3);
  if (has_int8_products()) expect_close_but_different("int8", 0.6);
}

TEST(DecodingPrecision, AutoIsTheFastestOfFullRange) {
  const auto source = toy_corpus(20, 9).source;
  const auto expected = translate(fastest_precision(), source, {"--n-best", "2"});
  EXPECT_EQ(translate("", source, {"--n-best", "2"}).out, expected.out);
  EXPECT_EQ(translate("auto", source, {"--n-best", "2"}).out, expected.out);
}

TEST(DecodingPrecision, AnUnknownPrecisionIsAUsageError) {
  const auto finished = translate("fp16", "a\n");
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err,
              HasSubstr("precision: found `fp16`, expected one of auto, fp32, tf32, bf16, int8"));
}

class Quantize : public CliTest {
 protected:
  // The matrices are large enough to be quantized.
  const fs::path model_ = copy_of_run(
      trained_once("tiny_wide", {"model.encoder.hidden_size=256", "model.decoder.hidden_size=256"}),
      folder_ / "run");
  const fs::path output_ = folder_ / "small";
};

TEST_F(Quantize, WritesASmallerModelThatTranslates) {
  const auto finished = run({"quantize", model_.string(), "-o", output_.string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("MB instead of"));
  const auto size = [](const fs::path& folder) {
    return static_cast<double>(fs::file_size(folder / "model.safetensors"));
  };
  EXPECT_NEAR(size(output_) / size(model_ / "best"), 0.25, 0.05);
  const auto source = toy_corpus(30, 9).source;
  const auto of = [&](const fs::path& path) {
    return run({"translate", "-m", path.string(), "--precision", "fp32"}, source);
  };
  EXPECT_EQ(of(output_).code, 0) << of(output_).err;
  const auto expected = lines_of(of(model_).out);
  const auto found = lines_of(of(output_).out);
  ASSERT_EQ(found.size(), expected.size());
  std::size_t same = 0;
  for (std::size_t i = 0; i < found.size(); ++i) same += found[i] == expected[i] ? 1U : 0U;
  EXPECT_GE(same * 10, found.size() * 8) << "of " << found.size();
  EXPECT_EQ(run({"info", output_.string()}).code, 0);
}

TEST_F(Quantize, OnlyTranslationTakesTheResult) {
  ASSERT_EQ(run({"quantize", model_.string(), "-o", output_.string()}).code, 0);
  const auto config = toy_training(folder_ / "other");
  const std::vector<std::vector<std::string>> calls = {
      {"train", "-c", config.string(), "--init-from", output_.string()},
      {"average", output_.string(), model_.string(), "-o", output_.string() + "2"},
      {"quantize", output_.string(), "-o", output_.string() + "2"}};
  for (const auto& call : calls) {
    const auto finished = run(call);
    EXPECT_EQ(finished.code, 5) << call[0];
    EXPECT_THAT(finished.err, HasSubstr("its weights are quantized, for translation only"))
        << call[0];
  }
}

TEST_F(Quantize, DoesNotOverwriteARunOrTheModelItself) {
  const auto into_run = run({"quantize", model_.string(), "-o", model_.string()});
  EXPECT_EQ(into_run.code, 2);
  const auto best = fs::canonical(model_ / "best");
  const auto before = read_text(best / "manifest.json");
  const auto into_model = run({"quantize", best.string(), "-o", best.string()});
  EXPECT_EQ(into_model.code, 2);
  EXPECT_THAT(into_model.err, HasSubstr("is the model itself"));
  EXPECT_EQ(read_text(best / "manifest.json"), before);
}

}  // namespace
}  // namespace regard::precision_test
