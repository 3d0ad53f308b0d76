// Tests the library through its public header, with a model folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "regard/error_kind.h"
#include "regard/model.h"
#include "tests/cli/run.h"

namespace regard::model_test {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

Model tiny() {
  return Model(tiny_model().string(), "cpu", 1);
}

std::vector<std::string> sources() {
  return lines_of(read_text(tiny_model().parent_path() / "dev.en"));
}

TEST(LibraryModel, TranslatesLikeTheCommandLine) {
  EXPECT_EQ(tiny().translate(sources()), lines_of(tiny_translation()));
}

TEST(LibraryModel, TranslatesBlankLinesToBlankLines) {
  const auto model = tiny();
  EXPECT_THAT(model.translate({"", " ", "the cat"}),
              ElementsAre("", "", model.translate({"the cat"})[0]));
  EXPECT_THAT(model.n_best({""}, 2)[0].hypotheses, SizeIs(0));
}

TEST(LibraryModel, AcceptsSearchOptions) {
  const auto model = tiny();
  const auto lines = sources();
  EXPECT_THAT(model.translate({lines[0]}, {"max_output_length=1"})[0],
              testing::Not(HasSubstr(" ")));
  const auto given = run({"translate", "-m", tiny_model().string(), "-i",
                          (tiny_model().parent_path() / "dev.en").string(), "--beam-size", "1"});
  EXPECT_EQ(model.translate(lines, {"beam_size=1"}), lines_of(given.out));
}

TEST(LibraryModel, NBestIsSortedAndBeginsWithTheTranslation) {
  const auto model = tiny();
  const auto lines = sources();
  const auto best = model.n_best(lines, 3);
  const auto texts = model.translate(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ASSERT_THAT(best[i].hypotheses, SizeIs(3));
    EXPECT_EQ(best[i].hypotheses[0].text, texts[i]);
    EXPECT_GE(best[i].hypotheses[0].score, best[i].hypotheses[1].score);
    EXPECT_GE(best[i].hypotheses[1].score, best[i].hypotheses[2].score);
  }
}

TEST(LibraryModel, AttentionIsADistributionOverSourceTokens) {
  const auto translation = tiny().n_best({"the cat sees a dog"}, 1)[0];
  EXPECT_THAT(translation.source_tokens, ElementsAre("the", "cat", "sees", "a", "dog", "</s>"));
  const auto& best = translation.hypotheses[0];
  ASSERT_EQ(best.attention.size(), best.tokens.size());
  for (const auto& row : best.attention) {
    ASSERT_THAT(row, SizeIs(6));
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-5);
  }
}

TEST(LibraryModel, ScoreIsTheSumOfItsTokensAndEqualsTheSearch) {
  const auto model = tiny();
  const auto found = model.n_best({"the small cat"}, 1)[0].hypotheses[0];
  const auto scored = model.score({"the small cat"}, {found.text})[0].hypotheses[0];
  EXPECT_EQ(scored.tokens, found.tokens);
  EXPECT_THAT(scored.log_probability, DoubleNear(found.log_probability, 1e-4));
  EXPECT_THAT(std::accumulate(scored.token_log_probability.begin(),
                              scored.token_log_probability.end(), 0.0),
              DoubleNear(scored.log_probability, 1e-9));
}

TEST(LibraryModel, SelfAttentionHasARowForEachTokenOfEachHead) {
  const Model model(tiny_transformer().string(), "cpu", 1);
  const auto own = model.self_attention({"the cat", ""}, {"le chat", ""});
  ASSERT_THAT(own, SizeIs(2));
  EXPECT_THAT(own[0].source_tokens, ElementsAre("the", "cat", "</s>"));
  EXPECT_THAT(own[0].decoder_inputs, ElementsAre("<s>", "le", "chat"));
  for (const auto& weights : {own[0].encoder, own[0].decoder}) {
    ASSERT_THAT(weights, SizeIs(2));
    for (const auto& layer : weights) {
      ASSERT_THAT(layer, SizeIs(2));
      for (const auto& head : layer) {
        ASSERT_THAT(head, SizeIs(3));
        for (const auto& row : head) {
          ASSERT_THAT(row, SizeIs(3));
          EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-5);
        }
      }
    }
  }
  EXPECT_EQ(own[0].decoder[1][0][1][2], 0.0F);
  EXPECT_THAT(own[1].encoder, SizeIs(0));
  EXPECT_THAT(tiny().self_attention({"the cat"}, {"le chat"})[0].encoder, SizeIs(0));
}

TEST(LibraryModel, EnsemblesConstraintsAndSplitsAreThoseOfTheCommandLine) {
  const auto lines = sources();
  std::string input;
  for (const auto& line : lines) input += line + "\n";
  const auto other = tiny_lstm().string();
  const Model both({tiny_model().string(), other}, {"linear", {1, 2}}, "cpu", 1, "fp32");
  const auto translated = run({"translate", "-m", tiny_model().string(), other, "--ensemble-mean",
                               "linear", "--ensemble-weights", "1,2", "--precision", "fp32"},
                              input);
  EXPECT_EQ(both.translate(lines), lines_of(translated.out));

  const auto model = tiny();
  const auto word = model.translate(lines)[0].substr(0, model.translate(lines)[0].find(' '));
  LineOptions options;
  options.constraints = {{.ban = {word}}};
  for (const auto& line : model.translate(lines, {}, {}, options)) {
    EXPECT_THAT(" " + line + " ", testing::Not(HasSubstr(" " + word + " ")));
  }
  options = {.split_length = 3};
  const auto split = run({"translate", "-m", tiny_model().string(), "--split-length", "3"}, input);
  EXPECT_EQ(model.translate(lines, {}, {}, options), lines_of(split.out));
  const auto sentences = run({"translate", "-m", tiny_model().string()},
                             "the cat sees . the dog hears . a small bird hears the old dog .\n");
  const std::vector<std::string> line = {
      "the cat sees . the dog hears . a small bird hears the old dog ."};
  EXPECT_EQ(model.translate(line), lines_of(sentences.out));
  EXPECT_NE(model.translate(line, {}, {}, {.whole_lines = true}), model.translate(line));
  EXPECT_EQ(model.n_best(line, 1)[0].hypotheses[0].text, model.translate(line)[0]);
  EXPECT_EQ(model.n_best(line, 1)[0].source_tokens.size(), 17);
  EXPECT_EQ(model.n_best(line, 2)[0].hypotheses[0].text,
            model.translate(line, {}, {}, {.whole_lines = true})[0]);
  options.constraints.resize(2);
  EXPECT_THAT([&] { model.translate(lines, {}, {}, options); },
              ThrowsMessage<std::runtime_error>(HasSubstr("constraints: found 2, expected one")));
}

TEST(LibraryModel, SplittingASourceThatIsNotTextIsAnError) {
  const Model model(tiny_language_model().string(), "cpu", 1);
  EXPECT_THAT([&] { model.translate({"le chat"}, {}, {}, {.split_length = 3}); },
              ThrowsMessage<std::runtime_error>(
                  "split_length: the source of the model has no sentences to split at"));
}

TEST(LibraryModel, ProgressReachesTheNumberOfLines) {
  const Model model(tiny_model().string(), "cpu", 2);
  const auto lines = sources();
  std::vector<std::size_t> finished;
  const auto progress = [&](std::size_t count) { finished.push_back(count); };
  EXPECT_EQ(model.translate(lines, {"batch_size=4"}, progress), model.translate(lines));
  EXPECT_THAT(finished, testing::Not(testing::IsEmpty()));
  EXPECT_TRUE(std::is_sorted(finished.begin(), finished.end()));
  EXPECT_EQ(finished.back(), lines.size());
  finished.clear();
  model.score(lines, lines, progress);
  EXPECT_EQ(finished.back(), lines.size());
  finished.clear();
  model.self_attention({"the cat", "the dog"}, {"le chat", "le chien"}, progress);
  EXPECT_EQ(finished.back(), 2);
}

TEST(LibraryModel, AnExceptionOfProgressEndsTheCallAndLeavesTheModelUsable) {
  const Model model(tiny_model().string(), "cpu", 2);
  const std::vector<std::string> lines(1000, "the cat");
  const auto wanted = model.translate({"the cat"});
  std::size_t last = 0;
  const auto stop = [&](std::size_t finished) {
    last = finished;
    throw std::domain_error("stopped");
  };
  EXPECT_THROW(model.translate(lines, {"batch_size=2"}, stop), std::domain_error);
  EXPECT_LT(last, lines.size());
  EXPECT_THROW(model.n_best(lines, 1, {}, stop), std::domain_error);
  EXPECT_THROW(model.score(lines, lines, stop), std::domain_error);
  EXPECT_THROW(model.self_attention(lines, lines, stop), std::domain_error);
  EXPECT_EQ(model.translate({"the cat"}), wanted);
}

TEST(LibraryModel, CanBeCalledFromSeveralThreads) {
  const Model model(tiny_model().string(), "cpu", 2);
  const auto lines = sources();
  const auto expected = model.translate(lines);
  const auto greedy = model.translate(lines, {"beam_size=1"});
  const auto scores = model.score(lines, expected);
  std::vector<std::thread> callers;
  for (int i = 0; i < 16; ++i) {
    callers.emplace_back([&, i] {
      if (i % 4 == 0) EXPECT_EQ(model.translate(lines), expected);
      if (i % 4 == 1) EXPECT_EQ(model.translate(lines, {"batch_size=3"}), expected);
      if (i % 4 == 2) EXPECT_EQ(model.translate(lines, {"beam_size=1"}), greedy);
      if (i % 4 == 3) {
        const auto own = model.score(lines, expected);
        for (std::size_t k = 0; k < lines.size(); ++k) {
          EXPECT_EQ(own[k].hypotheses[0].log_probability, scores[k].hypotheses[0].log_probability);
        }
      }
    });
  }
  for (auto& caller : callers) caller.join();
}

TEST(LibraryModel, AShortTranslationDoesNotWaitForALongOne) {
  const Model model(tiny_model().string(), "cpu", 2);
  const auto wanted = model.translate({"the cat"});
  const std::vector<std::string> long_text(5000, "the cat sees a dog");
  std::atomic<std::size_t> finished = 0;
  std::atomic<bool> is_enough = false;
  const auto progress = [&](std::size_t count) {
    finished = count;
    if (is_enough) throw std::domain_error("enough");
  };
  std::thread caller(
      [&] { EXPECT_THROW(model.translate(long_text, {}, progress), std::domain_error); });
  while (finished == 0) std::this_thread::yield();
  EXPECT_EQ(model.translate({"the cat"}), wanted);
  EXPECT_LT(finished, long_text.size());
  is_enough = true;
  caller.join();
}

TEST(LibraryModel, ACallThatWaitsForItsTurnCanBeEnded) {
  const Model model(tiny_model().string(), "cpu", 1);
  const auto wanted = model.translate({"the cat"});
  std::atomic<bool> is_enough = false;
  std::atomic<bool> has_begun = false;
  const auto progress = [&](std::size_t) {
    has_begun = true;
    if (is_enough) throw std::domain_error("enough");
  };
  const std::vector<std::string> long_text(5000, "the cat sees a dog");
  std::thread caller(
      [&] { EXPECT_THROW(model.translate(long_text, {}, progress), std::domain_error); });
  while (!has_begun) std::this_thread::yield();
  const auto stop = [](std::size_t) { throw std::domain_error("stopped"); };
  EXPECT_THROW(model.score({"the cat"}, wanted, stop), std::domain_error);
  EXPECT_EQ(model.translate({"the cat"}), wanted);
  is_enough = true;
  caller.join();
}

TEST(LibraryModel, CanBeMoved) {
  auto first = tiny();
  const auto wanted = first.translate({"the cat"});
  const Model second = std::move(first);
  EXPECT_EQ(second.translate({"the cat"}), wanted);
}

TEST(LibraryModel, ErrorsAreMessages) {
  const auto model = tiny();
  const auto says = [](auto message) { return ThrowsMessage<std::runtime_error>(message); };
  EXPECT_THAT([] { Model("/no/such/model"); }, says(HasSubstr("/no/such/model")));
  EXPECT_THAT([] { Model(tiny_model().string(), "gpu"); }, says(HasSubstr("expected auto, cpu")));
  EXPECT_THAT([&] { model.translate({"a"}, {"beem_size=3"}); }, says(HasSubstr("beam_size")));
  EXPECT_THAT([&] { model.translate({"a"}, {"min_output_length=90"}); },
              says(HasSubstr("max_output_length")));
  EXPECT_THAT([&] { model.translate({"a", "\xFF"}); }, says(HasSubstr("line:2: byte 1")));
  EXPECT_THAT([&] { model.n_best({"a"}, 4); },
              says(AllOf(HasSubstr("found 4"), HasSubstr("1 to 3"))));
  EXPECT_THAT([&] { model.score({"a"}, {}); }, says(HasSubstr("1 source and 0 targets")));
  EXPECT_THAT([&] { model.self_attention({}, {"a"}); }, says(HasSubstr("0 sources and 1 target")));
}

TEST(LibraryModel, ATagThatTheModelDoesNotHaveIsAnError) {
  EXPECT_THAT([] { Model(tiny_model().string(), "cpu", 1, "auto", "", "<2fr>"); },
              ThrowsMessage<std::runtime_error>(
                  HasSubstr("trg_tag: found <2fr>, expected one of the model's")));
}

TEST(LibraryModel, ModelsWithOtherTagsShareOneModel) {
  const auto loaded = [](const std::string& tag) {
    return Model(tiny_tagged().string(), "cpu", 2, "auto", "", tag);
  };
  const auto lines = sources();
  auto model = std::make_unique<Model>(loaded("<2fr>"));
  const auto english = model->with_tags("", "<2en>");
  const auto french = model->translate(lines);
  ASSERT_NE(french, lines);
  EXPECT_EQ(english.translate(lines), loaded("<2en>").translate(lines));
  EXPECT_EQ(model->translate(lines), french) << "the model itself has changed";
  EXPECT_GT(model->score(lines, french)[0].hypotheses[0].log_probability,
            english.score(lines, french)[0].hypotheses[0].log_probability);
  EXPECT_EQ(english.self_attention({"the cat"}, {"the cat"})[0].decoder_inputs[0], "<2en>");
  EXPECT_EQ(english.with_tags("<2en>", "").n_best({"the cat"}, 1)[0].source_tokens[0], "<2en>");
  // Both directions at the same time, in the same batches.
  std::thread caller([&] { EXPECT_EQ(model->translate(lines), french); });
  EXPECT_EQ(english.translate(lines), loaded("<2en>").translate(lines));
  caller.join();
  model.reset();
  EXPECT_EQ(english.with_tags("", "<2fr>").translate(lines), french);
  EXPECT_THAT([&] { english.with_tags("<2de>", ""); },
              ThrowsMessage<std::runtime_error>(HasSubstr("src_tag: found <2de>")));
}

template <typename Call>
ErrorKind kind_of(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error_kind(error);
  }
  throw std::logic_error("no error");
}

TEST(LibraryModel, ErrorsHaveKinds) {
  const auto model = tiny();
  EXPECT_EQ(kind_of([&] { model.translate({"a"}, {"beem_size=3"}); }), ErrorKind::configuration);
  EXPECT_EQ(kind_of([&] { model.translate({"\xFF"}); }), ErrorKind::input);
  EXPECT_EQ(kind_of([&] { model.translate({"the cat\nsees"}); }), ErrorKind::input);
  EXPECT_EQ(model.translate({"the cat\n"}), model.translate({"the cat"}));
  EXPECT_EQ(kind_of([] { Model(tiny_model().string(), "cuda:99"); }), ErrorKind::environment);
  EXPECT_EQ(kind_of([] { throw std::bad_alloc(); }), ErrorKind::environment);
  EXPECT_EQ(kind_of([] { throw std::runtime_error("a bug"); }), ErrorKind::unexpected);
}

}  // namespace
}  // namespace regard::model_test
