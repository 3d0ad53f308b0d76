// The program on a GPU: every part trains to the CPU's losses and finds its translations, and a run
// goes on to the byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include "base/json.h"
#include "tests/cli/train_together.h"
#include "tests/data/feature_files.h"

namespace regard::program_test {
namespace {

using testing::HasSubstr;

// Programs started during its lifetime see the stand-in for a GPU, if there is one.
class Preloaded {
 public:
  Preloaded() { setenv("LD_PRELOAD", REGARD_STAND_IN_GPU, 1); }
  ~Preloaded() { unsetenv("LD_PRELOAD"); }
  Preloaded(const Preloaded&) = delete;
  Preloaded& operator=(const Preloaded&) = delete;
};

int probe(const std::string& what) {
  const auto command = "LD_PRELOAD=" REGARD_STAND_IN_GPU " " REGARD_GPU_PROBE " " + what;
  const int status = std::system((command + " 2>/dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool has_stand_in() {
  return !std::string(REGARD_STAND_IN_GPU).empty();
}

class Gpu : public Train {
 protected:
  void SetUp() override {
    if (probe("count") == 0) GTEST_SKIP() << "this machine has no GPU";
  }
  static Finished on_gpu(const Words& words) {
    const Preloaded preloaded;
    return run(words + Words{"--device", "cuda"});
  }
  Finished train_on_gpu(const Words& more) const {
    return on_gpu(Words{"train", "-c", config_.string()} + more);
  }
  std::string folder(const std::string& name) const { return (folder_ / name).string(); }
  Words translate(const Words& more) const {
    return Words{"translate", "-m", folder("run"), "-i", folder("dev.en"), "--precision", "fp32"} +
           more;
  }
};

double validation_loss(const Finished& finished) {
  std::smatch found;
  const std::regex loss("validation at step [0-9]+: loss ([0-9.]+)");
  EXPECT_TRUE(std::regex_search(finished.err, found, loss)) << finished.err;
  return found.empty() ? 0 : std::stod(found[1]);
}

TEST_F(Gpu, IsStrict) {
  EXPECT_EQ(probe("copy"), 16);
  EXPECT_EQ(probe("add"), 99) << "tensors of two devices";
  EXPECT_EQ(probe("index"), 99) << "an index of the CPU";
  EXPECT_GE(probe("touch"), 128) << "its memory";
  if (!has_stand_in()) return;
  EXPECT_GE(probe("order"), 2) << "a sum at equal indices has no order";
}

const Words ten_steps = {"training.max_steps=10", "training.validation_every=10",
                         "training.precision=fp32", "model.decoder.hidden_size=32"};

// Overrides of the toy training, whose attention is additive.
const std::map<std::string, Words> systems = [] {
  const Words no_size = {"model.attention.size=512"};
  std::map<std::string, Words> all;
  for (const std::string kind :
       {"additive", "concat", "multi_head", "coverage", "monotonic", "location_aware"}) {
    all[kind] = {"model.attention.kind=" + kind};
  }
  for (const std::string kind : {"none", "dot", "scaled_dot", "general", "cosine", "location",
                                 "local_m", "local_p", "hard", "ntm"}) {
    all[kind] = no_size + Words{"model.attention.kind=" + kind};
  }
  all["reinforce"] = all["hard"] + Words{"model.attention.estimator=reinforce"};
  all["between"] = {"model.decoder.query=between", "model.decoder.input_feeding=true"};
  all["lstm"] = {"model.encoder.cell=lstm", "model.decoder.cell=lstm"};
  all["tanh"] = {"model.encoder.cell=tanh", "model.decoder.cell=tanh"};
  all["self_attention"] = {"model.encoder.self_attention_layers=1", "model.encoder.heads=2"};
  all["copy"] = {"model.output.kind=copy"};
  for (const std::string side : {"model.encoder.", "model.decoder."}) {
    for (const std::string key :
         {"layers=3", "residual=true", "layer_norm=true", "reset_gate=after"}) {
      all["deep"].push_back(side + key);
    }
  }
  all["transformer"] = as_transformer() + Words{"model.decoder.hidden_size=16"};
  all["rotary"] =
      all["transformer"] + Words{"model.encoder.position=rotary", "model.decoder.position=rotary"};
  all["average"] = {"training.moving_average=0.9", "training.optimizer=adadelta"};
  return all;
}();

Words system_names() {
  Words names;
  for (const auto& system : systems) names.push_back(system.first);
  return names;
}

// While this lives, the stand-in has no memory for graphs.
class WithoutGraphs {
 public:
  WithoutGraphs() { setenv("REGARD_GPU_NO_GRAPH_MEMORY", "1", 1); }
  ~WithoutGraphs() { unsetenv("REGARD_GPU_NO_GRAPH_MEMORY"); }
  WithoutGraphs(const WithoutGraphs&) = delete;
  WithoutGraphs& operator=(const WithoutGraphs&) = delete;
};

class GpuTraining : public Gpu, public testing::WithParamInterface<std::string> {};

TEST_P(GpuTraining, HasTheLossesAndTranslationsOfTheCpu) {
  const auto settings = ten_steps + systems.at(GetParam());
  ASSERT_EQ(train_on_gpu(settings + Words{"training.graphs=off"}).code, 0);
  const auto step_by_step = weights();
  setenv("REGARD_GPU_COUNTS", folder("counts").c_str(), 1);
  const auto there = train_on_gpu(settings + Words{"--fresh"});
  unsetenv("REGARD_GPU_COUNTS");
  ASSERT_EQ(there.code, 0) << there.err;
  EXPECT_TRUE(weights() == step_by_step) << "graphs give other bytes";
  if (has_stand_in()) {
    const bool has_graphs =
        read_text(folder("counts")).find("operation graph ") != std::string::npos;
    EXPECT_TRUE(has_graphs) << "neither a step nor the search of the validation";
  }
  const auto here = train(settings + Words{"--fresh"});
  ASSERT_EQ(here.code, 0) << here.err;
  EXPECT_NEAR(validation_loss(there), validation_loss(here), 1e-3);
  const auto search =
      translate(GetParam() == "none" ? Words{} : Words{"--alignments", folder("alignments")});
  const auto found_there = on_gpu(search);
  const auto aligned_there = read_text(folder("alignments"));
  const auto found_here = run(search);
  EXPECT_EQ(found_there.code, 0) << found_there.err;
  EXPECT_EQ(found_there.out, found_here.out);
  EXPECT_EQ(aligned_there, read_text(folder("alignments")));
}

INSTANTIATE_TEST_SUITE_P(All, GpuTraining, testing::ValuesIn(system_names()),
                         [](const auto& given) { return given.param; });

// The counts of the stand-in for a step of a training or of a search, the mean over steps with
// batches of one size.
struct StepCounts {
  double operations = 0;
  double synchronisations = 0;
  std::string all;  // one line for each kind
};

class GpuCounts : public Gpu {
 protected:
  void SetUp() override {
    if (!has_stand_in()) GTEST_SKIP() << "only the stand-in counts";
    // Multi30k's median: 14 tokens and </s>, on both sides.
    for (const std::string name : {"train.en", "train.fr"}) {
      std::string text;
      for (int line = 0; line < 424; ++line) {  // batches of 53
        for (int i = 0; i < 14; ++i) {
          text += (i > 0 ? " w" : "w") + std::to_string((line * 7 + i * i) % 50);
        }
        text += "\n";
      }
      write_text(folder_ / name, text);
    }
  }

  // Counts the steps between `first` and `last`; arguments(n) are those of a program with n steps.
  template <typename Arguments>
  StepCounts count_steps(int first, int last, const Arguments& arguments) const {
    StepCounts step;
    for (const int steps : {first, last}) {
      const auto path = folder("counts" + std::to_string(steps));
      std::filesystem::remove(path);
      setenv("REGARD_GPU_COUNTS", path.c_str(), 1);
      const auto finished = on_gpu(arguments(std::to_string(steps)));
      unsetenv("REGARD_GPU_COUNTS");
      EXPECT_EQ(finished.code, 0) << finished.err;
      std::istringstream counts(read_text(path));
      std::string kind, name;
      double number = 0;
      const double sign = steps == first ? -1 : 1;
      while (counts >> kind >> name >> number) {
        auto& sum = kind == "operation" ? step.operations : step.synchronisations;
        sum += sign * number / (last - first);
        if (steps == last) step.all += kind + " " + name + " " + std::to_string(number) + "\n";
      }
    }
    return step;
  }

  StepCounts count(const Words& settings) const {
    return count_steps(2, 6, [&](const std::string& steps) {
      return Words{"train", "--fresh"} + settings +
             Words{"training.precision=fp32", "training.max_steps=" + steps};
    });
  }

  // Counts the steps of a search with a model trained for one step. No hypothesis ends before the
  // last step.
  StepCounts count_search(const Words& settings, const Words& options, bool has_graphs) const {
    const auto trained = on_gpu(Words{"train"} + settings + Words{"training.max_steps=1"});
    EXPECT_EQ(trained.code, 0) << trained.err;
    std::string lines = "w0 w1\n";  // the others have padding
    const auto all = lines_of(read_text(folder("train.en")));
    for (std::size_t i = 0; i < 5; ++i) lines += all[i] + "\n";
    write_text(folder("lines"), lines);
    std::optional<WithoutGraphs> no_memory;
    if (!has_graphs) no_memory.emplace();
    return count_steps(13, 29, [&](const std::string& steps) {
      const auto least = std::to_string(std::stoi(steps) - 1);  // without </s>
      return Words{"translate",
                   "-m",
                   folder("run"),
                   "-i",
                   folder("lines"),
                   "--precision",
                   "fp32",
                   "--max-output-length",
                   steps,
                   "--min-output-length",
                   least,
                   "--max-output-ratio",
                   "0"} +
             options;
    });
  }

  // Expects at most so many operations in a step, which waits for the device once.
  void expect_at_most(double operations, const Words& settings, bool has_graphs = false) const {
    const auto step =
        count(settings + Words{std::string("training.graphs=") + (has_graphs ? "auto" : "off")});
    EXPECT_LE(step.operations, operations) << step.all;
    EXPECT_EQ(step.synchronisations, 1) << step.all;
  }

  // The settings of a file in configs/ with the text above, and no validation.
  Words recipe(const std::string& name) const {
    return {"-c",
            REGARD_SOURCE_DIR "/configs/" + name,
            "data.train=[{src: " + folder("train.en") + ", trg: " + folder("train.fr") + "}]",
            "data.dev.src=",
            "data.dev.trg=",
            "data.tokenizer.kind=word",
            "training.early_stopping_metric=loss",
            "training.model_dir=" + folder("run")};
  }
};

TEST_F(GpuCounts, TheRecurrentRecipeTakesFewOperations) {
  expect_at_most(450, recipe("multi30k.yaml"));
}

// The copies of a batch, of the learning rate and of the loss, and the graph.
TEST_F(GpuCounts, AStepOfAKnownShapeIsOneGraph) {
  expect_at_most(4, recipe("multi30k.yaml"), /*has_graphs=*/true);
}

TEST_F(GpuCounts, AStepOfATransformerWithAMovingAverageIsOneGraph) {
  expect_at_most(4, recipe("multi30k_transformer_best.yaml"), /*has_graphs=*/true);
}

TEST_F(GpuCounts, TheRecurrentRecipeWithTheResetGateAfterTheProductTakesFewer) {
  expect_at_most(255, recipe("multi30k.yaml") + Words{"model.encoder.reset_gate=after",
                                                      "model.decoder.reset_gate=after"});
}

TEST_F(GpuCounts, TheTransformerRecipeTakesFewOperations) {
  expect_at_most(427, recipe("multi30k_transformer.yaml"));
}

TEST_F(GpuCounts, TheBestRecurrentRecipeTakesFewOperations) {
  expect_at_most(590, recipe("multi30k_best.yaml"));
}

TEST_F(GpuCounts, TheBestTransformerRecipeTakesFewOperations) {
  expect_at_most(422, recipe("multi30k_transformer_best.yaml"));
}

TEST_F(GpuCounts, AStepOfABeamSearchWithATransformerTakesFewOperations) {
  const auto step = count_search(recipe("multi30k_transformer.yaml"), {"--beam-size", "5"},
                                 /*has_graphs=*/false);
  EXPECT_LE(step.operations, 71) << step.all;
  EXPECT_EQ(step.synchronisations, 1) << step.all;
}

// The copies of parents, tokens and positions and of the best tokens, and the graph.
TEST_F(GpuCounts, AStepOfABeamSearchIsOneGraph) {
  for (const std::string config : {"multi30k.yaml", "multi30k_transformer.yaml"}) {
    const auto settings = recipe(config) + Words{"training.model_dir=" + folder("run"), "--fresh"};
    const auto step = count_search(settings, {"--beam-size", "5"}, /*has_graphs=*/true);
    EXPECT_LE(step.operations, 3) << config << "\n" << step.all;
    EXPECT_EQ(step.synchronisations, 1) << step.all;
  }
}

class GpuWaits : public GpuCounts, public testing::WithParamInterface<std::string> {};

TEST_P(GpuWaits, OnceInAStep) {
  const auto step =
      count(Words{"-c", config_.string(),
                  "data.dev.src=", "data.dev.trg=", "training.early_stopping_metric=loss",
                  "model.decoder.hidden_size=32", "training.graphs=off"} +
            systems.at(GetParam()));
  EXPECT_EQ(step.synchronisations, 1) << step.all;
}

TEST_P(GpuWaits, OnceInAStepOfASearch) {
  const auto step = count_search(
      Words{"-c", config_.string(), "model.decoder.hidden_size=32"} + systems.at(GetParam()),
      {"--beam-size", "2"}, /*has_graphs=*/false);
  EXPECT_EQ(step.synchronisations, 1) << step.all;
}

INSTANTIATE_TEST_SUITE_P(All, GpuWaits, testing::ValuesIn(system_names()),
                         [](const auto& given) { return given.param; });

// Expects the same words, and figures that differ by no more than their last digit.
void expect_same_output(const std::string& there, const std::string& here,
                        const std::string& what) {
  std::istringstream a(there), b(here);
  std::string x, y;
  while (a >> x) {
    ASSERT_TRUE(b >> y) << what << ": " << here << " lacks " << x;
    if (x == y) continue;
    const auto value = x.rfind('=') + 1;  // as in word=-0.3375
    ASSERT_EQ(x.substr(0, value), y.substr(0, value)) << what;
    x.erase(0, value);
    y.erase(0, value);
    char *end_x = nullptr, *end_y = nullptr;
    const auto number_x = std::strtod(x.c_str(), &end_x), number_y = std::strtod(y.c_str(), &end_y);
    ASSERT_TRUE(end_x != x.c_str() && std::string(end_x) == end_y)
        << what << ": " << x << " and " << y;
    // Figures with three decimals, of --explain, can lie on both sides of a rounding edge.
    const auto point = y.find('.');
    const auto figure = y.size() - std::string(end_y).size();  // the length of the number
    const bool has_three_decimals = point != std::string::npos && figure - point == 4;
    const double last_digit = has_three_decimals ? 1.001e-3 : 0;
    EXPECT_NEAR(number_x, number_y, std::max(last_digit, 2e-4 * std::max(1.0, std::abs(number_y))))
        << what;
  }
  EXPECT_FALSE(b >> y) << what << ": " << there << " lacks " << y;
}

// With lines of many lengths, so that batches move between slots, and outputs longer than the first
// room of a Transformer.
class GpuSearch : public GpuTraining {};

TEST_P(GpuSearch, GraphsGiveTheTranslationsOfTheSameStepsOneByOne) {
  ASSERT_EQ(train(ten_steps + systems.at(GetParam())).code, 0);
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    for (int word = 0; word <= i % 17; ++word) {
      lines += (word > 0 ? " " : "") + std::string((i + word) % 3 > 0 ? "chat" : "le");
    }
    lines += "\n";
  }
  write_text(folder_ / "lines", lines);
  for (const std::string beam : {"1", "3"}) {
    const Words search = {"translate",
                          "-m",
                          folder("run"),
                          "-i",
                          folder("lines"),
                          "--precision",
                          "fp32",
                          "--beam-size",
                          beam,
                          "--batch-size",
                          "20",
                          "--max-output-length",
                          "70",
                          "--max-output-ratio",
                          "0",
                          "--min-output-length",
                          "3",
                          "--n-best",
                          beam};
    setenv("REGARD_GPU_COUNTS", folder("counts" + beam).c_str(), 1);
    const auto found = on_gpu(search);
    unsetenv("REGARD_GPU_COUNTS");
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(found.err.find("operation by operation"), std::string::npos) << found.err;
    if (has_stand_in()) {
      EXPECT_THAT(read_text(folder("counts" + beam)), HasSubstr("operation graph "));
    }
    const WithoutGraphs no_memory;
    const auto expected = on_gpu(search);
    ASSERT_EQ(expected.code, 0) << expected.err;
    if (has_stand_in()) {
      EXPECT_THAT(expected.err, HasSubstr("operation by operation"));
    }
    expect_same_output(found.out, expected.out, GetParam() + " " + beam);
  }
}

// Rounded up, sources and outputs would be longer than the positions that the model has learned.
TEST_F(Gpu, GraphsOfASearchKeepWithinLearnedPositions) {
  auto settings = ten_steps + systems.at("transformer");
  for (const std::string side : {"encoder", "decoder"}) {
    settings.push_back("model." + side + ".position=learned");
    settings.push_back("model." + side + ".max_positions=13");
  }
  settings = settings + Words{"data.max_length=12", "search.max_output_length=12"};
  ASSERT_EQ(train(settings).code, 0);
  write_text(folder_ / "lines", "le chat le chat le chat le chat le chat le\nchat\n");
  const Words search = {"translate",   "-m",   folder("run"), "-i", folder("lines"),
                        "--precision", "fp32", "--beam-size", "3"};
  const auto found = on_gpu(search);
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(found.err.find("operation by operation"), std::string::npos) << found.err;
  EXPECT_EQ(found.out, run(search).out);
}

INSTANTIATE_TEST_SUITE_P(All, GpuSearch, testing::ValuesIn(system_names()),
                         [](const auto& given) { return given.param; });

TEST_F(Gpu, PointsAtNumbers) {
  for (const std::string part : {"train", "dev"}) {
    write_text(folder_ / (part + ".en"), "7 3 5\n1 2\n9 4\n");
    write_text(folder_ / (part + ".fr"), "1 2 0\n0 1\n1 0\n");
  }
  const auto settings =
      ten_steps + Words{"model.output.kind=pointer",    "model.encoder.numbers=1",
                        "model.attention.kind=none",    "model.attention.size=512",
                        "model.decoder.readout_size=1", "search.beam_size=1"};
  const auto there = train_on_gpu(settings);
  ASSERT_EQ(there.code, 0) << there.err;
  EXPECT_NEAR(validation_loss(there), validation_loss(train(settings + Words{"--fresh"})), 1e-3);
  EXPECT_EQ(on_gpu(translate({})).out, run(translate({})).out);
}

TEST_F(Gpu, DescribesImages) {
  FeatureItems images{6, {}, {}};  // 2 × 4 pixels
  for (int i = 0; i < 3; ++i) {
    auto& image = images.items.emplace_back();
    for (int k = 0; k < 24; ++k) image.push_back(static_cast<float>((i + 1) * k % 7) / 7);
  }
  write_features(folder("images"), images);
  write_text(folder_ / "captions", "a b c\na c\nb\n");
  const auto pair = "{src: " + folder("images") + ", trg: " + folder("captions") + "}";
  const auto settings = ten_steps + Words{"data.source=features",
                                          "data.train=[" + pair + "]",
                                          "data.dev=" + pair,
                                          "data.tokenizer.kind=word",
                                          "model.encoder.kind=convolutional",
                                          "model.encoder.numbers=6",
                                          "model.encoder.image_height=4",
                                          "model.encoder.embedding_dim=256",
                                          "model.encoder.hidden_size=8"};
  const auto there = train_on_gpu(settings);
  ASSERT_EQ(there.code, 0) << there.err;
  EXPECT_NEAR(validation_loss(there), validation_loss(train(settings + Words{"--fresh"})), 1e-3);
  const Words translate_images = {"translate",      "-m",          folder("run"), "-i",
                                  folder("images"), "--precision", "fp32"};
  EXPECT_EQ(on_gpu(translate_images).out, run(translate_images).out);
}

TEST_F(Gpu, EveryWayToDecodeGivesWhatTheCpuGives) {
  ASSERT_EQ(train().code, 0);
  write_text(folder_ / "words", [] {
    std::string words;
    for (int i = 0; i < 20; ++i) words += i % 2 == 0 ? "chat\n" : "chien\n";
    return words;
  }());
  const auto words = folder("words");
  const auto list = folder("list");
  ASSERT_EQ(run({"shortlist", "-m", folder("run"), "-s", folder("dev.en"), "-t", folder("dev.fr"),
                 "-o", list})
                .code,
            0);
  for (const auto& options : std::vector<Words>{
           {"--beam-size", "1"},
           {"--beam-size", "4", "--coverage-beta", "0.2"},
           {"--beam-size", "4", "--beam-groups", "2"},
           {"--no-repeat-ngram", "2", "--min-output-length", "3", "--repetition-penalty", "1.2"},
           {"--samples", "2", "--top-k", "5"},
           {"--samples", "2", "--top-p", "0.8"},
           {"--prefixes", words},
           {"--require", words},
           {"--ban", words},
           {"--shortlist", list, "--shortlist-frequent", "2", "--shortlist-best", "2"},
           {"-m", folder("run"), folder("run"), "--shortlist", list, "--shortlist-best", "1"},
           {"--explain"},
           {"-m", folder("run"), folder("run"), "--word-scores"}}) {
    const auto there = on_gpu(translate(options));
    EXPECT_EQ(there.code, 0) << options[0] << ": " << there.err;
    expect_same_output(there.out, run(translate(options)).out, options[0]);
  }
  const Words texts = {"-s", folder("dev.en"), "-r", folder("dev.fr")};
  const auto evaluate = Words{"evaluate", "-m", folder("run"), "--precision", "fp32"} + texts;
  expect_same_output(on_gpu(evaluate).out, run(evaluate).out, "evaluate");
  const auto score =
      Words{"score",          "-m",          folder("run"), "-s", folder("dev.en"), "-t",
            folder("dev.fr"), "--precision", "fp32"};
  EXPECT_EQ(on_gpu(score).err, run(score).err);  // the perplexity
}

// Sentences of 16 positions in batches of 8 need no padding for graphs, so that dropout masks,
// which depend on the place of an element in its tensor, are those of the CPU.
TEST_F(Gpu, WithDropoutTheLossesAreThoseOfTheCpu) {
  for (const std::string name : {"train.en", "train.fr"}) {
    std::string text;
    for (int i = 0; i < 64 * 15; ++i) {
      text += "w" + std::to_string(i * i % 47) + (i % 15 == 14 ? "\n" : " ");
    }
    write_text(folder_ / name, text);
  }
  for (const std::string system : {"additive", "deep", "multi_head", "transformer"}) {
    auto settings = ten_steps + systems.at(system) +
                    Words{"--fresh",
                          "threads=1",
                          "data.tokenizer.kind=word",
                          "data.dev.src=",
                          "data.dev.trg=",
                          "training.early_stopping_metric=loss",
                          "training.batch_size=128",
                          "training.logging_every=1"};
    for (const std::string part : {"tokens", "embeddings", "states", "readout", "attention"}) {
      settings.push_back("model.dropout." + part + "=0.3");
    }
    const auto here = train(settings);
    ASSERT_EQ(here.code, 0) << here.err;
    const auto expected = losses("run");
    for (const std::string graphs : {"off", "auto"}) {
      const auto there = train_on_gpu(settings + Words{"training.graphs=" + graphs});
      ASSERT_EQ(there.code, 0) << there.err;
      const auto found = losses("run");
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i], expected[i], 1e-4 * expected[i]) << system << ", step " << i;
      }
    }
  }
}

TEST_F(Gpu, AKilledRunGoesOnToTheByteWithDropout) {
  const auto dropout = ten_steps + Words{"model.dropout.states=0.2", "model.attention.kind=hard",
                                         "model.attention.size=512"};
  ASSERT_EQ(train_on_gpu(dropout + Words{"training.max_steps=5"}).code, 0);
  ASSERT_EQ(train_on_gpu(dropout).code, 0);
  ASSERT_EQ(train_on_gpu(dropout + Words{"training.model_dir=" + folder("straight")}).code, 0);
  EXPECT_TRUE(weights() == weights("straight"));
}

TEST_F(Gpu, AStoppedRunGoesOnToTheByteThoughItCapturesGraphsAtOtherSteps) {
  const auto dropout = ten_steps + Words{"model.dropout.states=0.2", "model.dropout.tokens=0.1",
                                         "training.moving_average=0.9"};
  ASSERT_EQ(train_on_gpu(dropout + Words{"training.max_steps=7"}).code, 0);
  ASSERT_EQ(train_on_gpu(dropout).code, 0);
  ASSERT_EQ(train_on_gpu(dropout + Words{"training.model_dir=" + folder("straight")}).code, 0);
  EXPECT_TRUE(weights() == weights("straight"));
}

// One model reads the left context and has frozen weights, the other reads the whole context.
TEST_F(Gpu, LanguageModelsHaveTheLossesOfTheCpuAndTheSameBytesWithoutGraphs) {
  const std::string text = "{trg: " + folder("train.fr") + "}";
  const Words common = {"data.train=[" + text + "]", "data.dev=" + text,
                        "training.early_stopping_metric=loss", "model.dropout.embeddings=0",
                        "model.dropout.states=0"};
  const Words masked = {"model.kind=masked_language_model",
                        "data.noise.mask=0.15",
                        "model.encoder.kind=transformer",
                        "model.encoder.embedding_dim=32",
                        "model.encoder.hidden_size=32",
                        "model.encoder.heads=2",
                        "model.encoder.layers=1"};
  const Words causal = {"model.kind=language_model", "model.decoder.hidden_size=16",
                        "training.freeze=[decoder.*]"};
  const auto config = folder("lm.yaml");
  write_text(config,
             "name: lm\ndata: {tokenizer: {kind: word}}\ntraining: {model_dir: " + folder("run") +
                 ", validation_every: 10, max_steps: 10, batch_size: 100}\n");
  for (const auto& kind : {causal, masked}) {
    const auto train_lm = [&](const Words& more) {
      return Words{"train", "-c", config, "--fresh", "training.precision=fp32"} + common + kind +
             more;
    };
    const auto there = on_gpu(train_lm({}));
    ASSERT_EQ(there.code, 0) << there.err;
    const auto with_graphs = weights();
    ASSERT_EQ(on_gpu(train_lm({"training.graphs=off"})).code, 0);
    EXPECT_TRUE(weights() == with_graphs);
    const auto here = run(train_lm({"--device", "cpu"}));
    ASSERT_EQ(here.code, 0) << here.err;
    EXPECT_NEAR(validation_loss(there), validation_loss(here), 1e-3);
  }
}

TEST_F(Gpu, WithoutMemoryForGraphsTheTrainingGoesOn) {
  if (!has_stand_in()) GTEST_SKIP() << "a GPU has memory";
  const auto dropout = ten_steps + Words{"model.dropout.states=0.2"};
  ASSERT_EQ(train_on_gpu(dropout).code, 0);
  const auto with_graphs = weights();
  std::optional<WithoutGraphs> no_memory(std::in_place);
  const auto without = train_on_gpu(dropout + Words{"--fresh"});
  no_memory.reset();
  ASSERT_EQ(without.code, 0) << without.err;
  const std::string message =
      "training.graphs: steps are launched operation by operation: a graph does not fit into the "
      "memory of the device";
  EXPECT_THAT(without.err, HasSubstr(message));
  EXPECT_EQ(without.err.find(message, without.err.find(message) + 1), std::string::npos) << "once";
  EXPECT_TRUE(weights() == with_graphs);
}

TEST_F(Gpu, AnOlderOneTrainsWithoutTheKernels) {
  if (!has_stand_in()) GTEST_SKIP() << "a GPU has its own age";
  const auto here = train(ten_steps);
  ASSERT_EQ(here.code, 0) << here.err;
  for (const auto& [is_old, graphs] : {std::pair(false, "off"), {true, "off"}, {true, "auto"}}) {
    const auto counts = folder("counts" + std::to_string(is_old) + graphs);
    setenv("REGARD_GPU_COUNTS", counts.c_str(), 1);
    if (is_old) setenv("REGARD_GPU_BEFORE_AMPERE", "1", 1);
    const auto there =
        train_on_gpu(ten_steps + Words{"--fresh", std::string("training.graphs=") + graphs});
    unsetenv("REGARD_GPU_BEFORE_AMPERE");
    unsetenv("REGARD_GPU_COUNTS");
    ASSERT_EQ(there.code, 0) << there.err;
    EXPECT_EQ(read_text(counts).find("operation regard::") == std::string::npos, is_old);
    EXPECT_NEAR(validation_loss(there), validation_loss(here), 1e-3);
  }
}

TEST_F(Gpu, MinimumRiskTrainingHasTheLossOfTheCpuAndGoesOnToTheByte) {
  ASSERT_EQ(train(ten_steps).code, 0);
  const auto into = [&](const std::string& name) {
    return ten_steps + Words{"--init-from",
                             folder("run"),
                             "training.model_dir=" + folder(name),
                             "training.objective=minimum_risk",
                             "training.minimum_risk.samples=4",
                             "training.minimum_risk.likelihood_weight=0.5"};
  };
  const auto here = train(into("here"));
  const auto there = train_on_gpu(into("there"));
  ASSERT_EQ(here.code, 0) << here.err;
  ASSERT_EQ(there.code, 0) << there.err;
  const auto logged = [&](const std::string& name, const std::string& key) {
    return parse_json(lines_of(read_text(folder(name) + "/train.jsonl")).back())
        .at(key)
        .get<double>();
  };
  EXPECT_NEAR(logged("there", "loss"), logged("here", "loss"), 1e-3);
  EXPECT_NEAR(logged("there", "risk"), logged("here", "risk"), 1e-3);
  ASSERT_EQ(train_on_gpu(into("stopped") + Words{"training.max_steps=5"}).code, 0);
  ASSERT_EQ(train_on_gpu(into("stopped")).code, 0);
  EXPECT_TRUE(weights("stopped") == weights("there"));
}

TEST_F(Gpu, TrainsInBf16AndTf32) {
  ASSERT_EQ(train_on_gpu(ten_steps).code, 0);
  const auto in_fp32 = weights();
  const auto here = train(ten_steps + Words{"--fresh"});
  ASSERT_EQ(here.code, 0) << here.err;
  for (const std::string precision : {"bf16", "tf32"}) {
    const auto there =
        train_on_gpu(ten_steps + Words{"--fresh", "training.precision=" + precision});
    ASSERT_EQ(there.code, 0) << there.err;
    EXPECT_NEAR(validation_loss(there), validation_loss(here), 0.02) << precision;
    EXPECT_TRUE(weights() != in_fp32) << precision << " was not used";
  }
}

TEST_F(Gpu, SearchesInBf16AndTf32) {
  ASSERT_EQ(train(ten_steps).code, 0);
  const auto score = [&](const std::string& precision) {
    return on_gpu({"score", "-m", folder("run"), "-s", folder("dev.en"), "-t", folder("dev.fr"),
                   "--precision", precision});
  };
  const auto in_fp32 = score("fp32");
  ASSERT_EQ(in_fp32.code, 0) << in_fp32.err;
  for (const std::string precision : {"bf16", "tf32"}) {
    const auto found = score(precision);
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_NE(found.out, in_fp32.out) << precision << " was not used";
    const auto expected = lines_of(in_fp32.out), lines = lines_of(found.out);
    ASSERT_EQ(lines.size(), expected.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_NEAR(std::stod(lines[i]), std::stod(expected[i]), 0.3) << precision;
    }
    const auto translated = on_gpu({"translate", "-m", folder("run"), "-i", folder("dev.en"),
                                    "--precision", precision, "--beam-size", "3"});
    EXPECT_EQ(translated.code, 0) << translated.err;
    EXPECT_EQ(lines_of(translated.out).size(), lines.size());
  }
  EXPECT_EQ(score("auto").out, score("tf32").out);
  const auto in_int8 = score("int8");
  EXPECT_EQ(in_int8.code, 6);
  EXPECT_THAT(in_int8.err, HasSubstr("precision: found int8, which needs device=cpu"));
}

TEST_F(Gpu, ARunGoesFromTheCpuToTheGpuAndBack) {
  ASSERT_EQ(train(ten_steps).code, 0);
  const auto there = train_on_gpu(ten_steps + Words{"training.max_steps=20"});
  ASSERT_EQ(there.code, 0) << there.err;
  EXPECT_THAT(there.err, HasSubstr("Resuming from step 10"));
  const auto here = train(ten_steps + Words{"training.max_steps=30"});
  ASSERT_EQ(here.code, 0) << here.err;
  EXPECT_THAT(here.err, HasSubstr("Resuming from step 20"));
}

TEST_F(Gpu, NcclAddsUpTheNumbersOfOneProcess) {
  const auto sum = probe("nccl");
  if (sum == 0) GTEST_SKIP() << "this build has no NCCL";
  EXPECT_EQ(sum, 3);
}

class GpuTogether : public TrainTogether {
 protected:
  void SetUp() override {
    if (probe("count") == 0) GTEST_SKIP() << "this machine has no GPU";
    environment_ = "LD_PRELOAD=" REGARD_STAND_IN_GPU;
    TrainTogether::SetUp();
  }
};

TEST_F(GpuTogether, TwoProcessesLearnLikeOne) {
  const Words settings = {"device=cuda:0", "training.precision=fp32", "training.max_steps=10",
                          "training.validation_every=10", "training.logging_every=1"};
  for (const auto& process : train_together(2, settings)) EXPECT_EQ(process.code, 0) << process.err;
  const Preloaded preloaded;
  const auto alone = train(settings + Words{"training.model_dir=" + (folder_ / "alone").string()});
  ASSERT_EQ(alone.code, 0) << alone.err;
  const auto expected = losses("alone"), found = losses("run");
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4) << i;
}

}  // namespace
}  // namespace regard::program_test
