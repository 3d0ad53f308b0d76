// translate --attention-map: self-attention by layer and head.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/json.h"
#include "tests/cli/train.h"
#include "tests/report/xml_check.h"

namespace regard::attention_map_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* input = "the cat sees\n\na small dog hears the old bird .\n";

Finished translate(const fs::path& model, const Words& options) {
  return run(Words{"translate", "-m", model.string()} + options, input);
}

// Returns the JSON lines of --attention-weights with these options.
std::vector<std::string> weights_of(const fs::path& model, const Words& options) {
  const auto file = (fresh_folder() / "weights.jsonl").string();
  const auto finished = translate(model, options + Words{"--attention-weights", file});
  EXPECT_EQ(finished.code, 0) << finished.err;
  return lines_of(read_text(file));
}

// Two layers and two heads of n rows that sum to 1. With `causal`, 0 above the diagonal.
void expect_heads(const Json& weights, std::size_t n, bool causal) {
  ASSERT_EQ(weights.size(), 2U);
  for (const auto& layer : weights) {
    ASSERT_EQ(layer.size(), 2U);
    for (const auto& head : layer) {
      ASSERT_EQ(head.size(), n);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(head[i].size(), n);
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
          sum += head[i][j].get<double>();
          if (causal && j > i) {
            EXPECT_EQ(head[i][j].get<double>(), 0) << i << ", " << j;
          }
        }
        EXPECT_NEAR(sum, 1, 1e-5);
      }
    }
  }
}

TEST(AttentionMap, WeightsHaveTheHeadsOfEachLayer) {
  const auto lines = weights_of(tiny_transformer(), {"--attention-map", "encoder,decoder"});
  ASSERT_THAT(lines, SizeIs(3));
  const auto object = parse_json(lines[2]);
  EXPECT_EQ(object["source"].dump(),
            R"(["a","small","dog","hears","the","old","bird",".","</s>"])");
  expect_heads(object["encoder"], 9, false);
  const auto T = object["target"].size();
  ASSERT_EQ(object["inputs"].size(), T);
  EXPECT_EQ(object["inputs"][0], "<s>");
  for (std::size_t t = 1; t < T; ++t) EXPECT_EQ(object["inputs"][t], object["target"][t - 1]);
  expect_heads(object["decoder"], T, true);
  EXPECT_FALSE(object.contains("weights"));
  EXPECT_EQ(lines[1],
            R"({"line":2,"source":[],"target":[],"encoder":[],"inputs":[],"decoder":[]})");
}

TEST(AttentionMap, SourceIsTheDefaultAndKeepsItsKeys) {
  const auto plain = weights_of(tiny_transformer(), {});
  EXPECT_EQ(weights_of(tiny_transformer(), {"--attention-map", "source"}), plain);
  const auto both = weights_of(tiny_transformer(), {"--attention-map", "encoder", "source"});
  for (std::size_t i = 0; i < 3; ++i) {
    auto object = parse_json(both[i]);
    object.erase("encoder");
    EXPECT_EQ(to_text(object), plain[i]);
  }
}

TEST(AttentionMap, DependsOnNeitherBatchNorThreadsAndChangesNoTranslation) {
  const auto folder = fresh_folder();
  const auto translated = [&](const std::string& weights, const Words& batches) {
    return translate(tiny_transformer(),
                     batches + Words{"--attention-map", "source,encoder,decoder",
                                     "--attention-weights", (folder / weights).string()})
        .out;
  };
  const auto plain = translate(tiny_transformer(), {}).out;
  EXPECT_EQ(translated("one", {"--batch-size", "1"}), plain);
  EXPECT_EQ(translated("three", {"--batch-size", "3", "--threads", "2"}), plain);
  EXPECT_EQ(read_text(folder / "one"), read_text(folder / "three"));
}

TEST(AttentionMap, EachHypothesisHasItsOwn) {
  const auto lines =
      weights_of(tiny_transformer(), {"--attention-map", "decoder", "--n-best", "2"});
  ASSERT_THAT(lines, SizeIs(5));
  for (const std::size_t i : {0U, 1U}) {
    const auto object = parse_json(lines[i]);
    EXPECT_EQ(object["hypothesis"], i + 1);
    expect_heads(object["decoder"], object["target"].size(), true);
  }
}

TEST(AttentionMap, IsDrawnInTheTerminalByLayerAndHead) {
  const auto drawn = [](const Words& options) {
    const auto finished = translate(tiny_transformer(), options + Words{"--show-attention"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  };
  EXPECT_THAT(drawn({"--attention-map", "encoder,decoder"}),
              AllOf(HasSubstr("\nencoder: last layer, mean of its heads\n"),
                    HasSubstr("\ndecoder: last layer, mean of its heads\n"), HasSubstr("<s>")));
  const auto layer = drawn({"--attention-map", "encoder", "--attention-layer", "1"});
  EXPECT_THAT(layer, AllOf(HasSubstr("\nencoder: layer 1, head 1\n"),
                           HasSubstr("\nencoder: layer 1, head 2\n"), Not(HasSubstr("layer 2"))));
  EXPECT_THAT(drawn({"--attention-head", "2"}),
              AllOf(HasSubstr("\nsource: layer 2, head 2\n"), Not(HasSubstr("head 1"))));
  EXPECT_THAT(drawn({}), Not(HasSubstr("head")));
}

TEST(AttentionMap, MapsDrawnAreTheWeightsWritten) {
  const auto object = parse_json(weights_of(tiny_transformer(), {"--attention-map", "encoder"})[0]);
  const auto file = (fresh_folder() / "map.svg").string();
  ASSERT_EQ(translate(tiny_transformer(), {"--picture", file, "--attention-map", "encoder",
                                           "--attention-layer", "2", "--attention-head", "1"})
                .code,
            0);
  const auto svg = read_text(file);
  EXPECT_EQ(find_xml_fault(svg), "");
  EXPECT_EQ(count_of(svg, "width=\"1\" height=\"1\""), 16U);
  const auto weight = object["encoder"][1][0][1][2].get<double>();
  EXPECT_THAT(svg, HasSubstr(fmt::format("<title>cat ← sees  {:.3f}</title>", weight)));
}

TEST(AttentionMap, AFolderHasAPictureOfEachMap) {
  const auto folder = fresh_folder() / "maps";
  ASSERT_EQ(translate(tiny_transformer(),
                      {"--picture", folder.string() + "/", "--attention-map", "source,decoder"})
                .code,
            0);
  for (const auto* name : {"line-00001-source.svg", "line-00003-decoder.svg"}) {
    EXPECT_EQ(find_xml_fault(read_text(folder / name)), "") << name;
  }
  EXPECT_FALSE(fs::exists(folder / "line-00002-source.svg"));  // a blank line
}

TEST(AttentionMap, ErrorsNameTheReasonAndTheWayOut) {
  const auto says = [](const fs::path& model, const Words& options) {
    const auto finished = translate(model, options);
    EXPECT_EQ(finished.code, 2);
    return finished.err;
  };
  const auto with_map = [](const std::string& map, const Words& more = {}) {
    return Words{"--show-attention", "--attention-map", map} + more;
  };
  EXPECT_THAT(says(tiny_model(), with_map("encoder")),
              AllOf(HasSubstr("is recurrent, without self-attention"),
                    HasSubstr("model.encoder.self_attention_layers above 0")));
  EXPECT_THAT(says(tiny_model(), with_map("decoder")),
              HasSubstr("train with model.decoder.kind: transformer"));
  EXPECT_THAT(says(tiny_model(), {"--show-attention", "--attention-head", "1"}),
              HasSubstr("has no heads (model.attention.kind: additive)"));
  EXPECT_THAT(says(tiny_transformer(), with_map("encoder", {"--attention-layer", "3"})),
              AllOf(HasSubstr("has 2 layers; give 1 to 2")));
  EXPECT_THAT(says(tiny_transformer(), with_map("encoder", {"--attention-head", "9"})),
              HasSubstr("has 2 heads; give 1 to 2"));
  EXPECT_THAT(says(tiny_transformer(), with_map("encder")), HasSubstr("found `encder`, expected"));
  EXPECT_THAT(says(tiny_transformer(), {"--attention-map", "encoder"}),
              HasSubstr("give one of them"));
  EXPECT_THAT(says(tiny_transformer(), {"--attention-layer", "1"}),
              HasSubstr("--attention-layer selects what --picture and --show-attention draw"));
  EXPECT_THAT(says(tiny_transformer(), with_map("encoder", {"--split-length", "5"})),
              HasSubstr("--split-length"));
  EXPECT_THAT(says(tiny_transformer(), with_map("encoder", {"-m", tiny_transformer().string()})),
              HasSubstr("--attention-map shows one model"));
  EXPECT_THAT(
      says(tiny_transformer(), {"--picture", "map.svg", "--attention-map", "encoder,decoder"}),
      HasSubstr("found 2 maps of --attention-map, expected one"));
}

using AttentionMapOfTrained = Train;

TEST_F(AttentionMapOfTrained, SelfAttentionLayersOnTopOfARecurrentEncoder) {
  const auto trained = train({"model.encoder.self_attention_layers=2", "model.encoder.heads=2",
                              "model.encoder.feed_forward_size=8", "training.max_steps=2"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto file = path("weights.jsonl");
  ASSERT_EQ(
      translate(folder_ / "run", {"--attention-weights", file, "--attention-map", "encoder"}).code,
      0);
  const auto lines = lines_of(read_text(file));
  ASSERT_THAT(lines, SizeIs(3));
  expect_heads(parse_json(lines[0])["encoder"], 4, false);
  const auto page = path("page.html");
  ASSERT_EQ(translate(folder_ / "run", {"--report", page}).code, 0);
  EXPECT_THAT(read_text(page),
              AllOf(HasSubstr("encoder self-attention"), Not(HasSubstr("decoder self-attention"))));
}

}  // namespace
}  // namespace regard::attention_map_test
