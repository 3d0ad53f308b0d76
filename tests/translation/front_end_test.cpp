#include "translation/front_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/training/minimum_risk_case.h"

namespace regard::front_end_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// A model of words, without weights.
TranslationModel words() {
  TranslationModel model;
  model.options.data.tokenizer.kind = TokenizerKind::word;
  model.codec = numbered_words(20);
  return model;
}

TranslationModel pointer() {
  auto model = words();
  model.options.model.output.kind = OutputKind::pointer;
  return model;
}

TEST(FrontEnd, LinesStayWholeIfTheSearchOrTheCallerSaysSo) {
  const FrontEnd front_end(words());
  const SearchRequest search;
  EXPECT_EQ(front_end.max_words(0, false, search, false), 0);
  EXPECT_EQ(front_end.max_words(7, false, search, false), 7);
  EXPECT_EQ(front_end.max_words(0, true, search, false), std::nullopt);
  EXPECT_EQ(front_end.max_words(0, false, search, true), std::nullopt);
  for (auto set : {+[](SearchRequest& request) { request.n_best = 2; },
                   +[](SearchRequest& request) { request.samples = 2; },
                   +[](SearchRequest& request) { request.mbr = MbrMetric::bleu; },
                   +[](SearchRequest& request) { request.want_tree = true; }}) {
    SearchRequest request;
    set(request);
    EXPECT_EQ(front_end.max_words(0, false, request, false), std::nullopt);
    EXPECT_EQ(front_end.max_words(7, false, request, false), 7);
  }
  EXPECT_THAT(front_end.split("w5 w6 w7 w8 w9", 3), ElementsAre("w5 w6 w7", "w8 w9"));
}

TEST(FrontEnd, RefusesToSplitASourceThatIsNotText) {
  auto numbers = words();
  numbers.options.model.encoder.numbers = 2;
  for (const auto& model : {pointer(), numbers}) {
    const FrontEnd front_end(model);
    EXPECT_THAT([&] { front_end.max_words(7, false, {}, false); },
                ThrowsMessage<ConfigError>(HasSubstr("split_length: the source of the model has")));
    EXPECT_EQ(front_end.max_words(0, false, {}, false), std::nullopt);
    EXPECT_THAT([&] { front_end.glossary({}); },
                ThrowsMessage<ConfigError>("glossary: the model does not translate words"));
  }
}

TEST(FrontEnd, OnePartKeepsItsHypothesesAndSeveralAreJoined) {
  const FrontEnd front_end(words());
  Translation part;
  for (const std::int32_t token : {5, 6}) {
    part.hypotheses.emplace_back().tokens = {token};
    part.hypotheses.back().finished = true;
    part.hypotheses.back().token_log_p = {-1, -1};
  }
  EXPECT_EQ(front_end.join({part}, words().codec).hypotheses.size(), 2);
  const auto joined = front_end.join({part, part}, words().codec);
  ASSERT_EQ(joined.hypotheses.size(), 1);
  EXPECT_THAT(joined.hypotheses[0].tokens, ElementsAre(5, 5));
}

}  // namespace
}  // namespace regard::front_end_test
