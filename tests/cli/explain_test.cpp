// translate --explain: the numbers behind the attention weights of each kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/train.h"

namespace regard::explain_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Explain : public Train {
 protected:
  std::string explained(const Words& overrides, const std::string& line) const {
    const auto trained = train(overrides + Words{"training.max_steps=2"});
    EXPECT_EQ(trained.code, 0) << trained.err;
    const auto finished = run({"translate", "-m", path("run"), "--explain"}, line);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  }
};

TEST_F(Explain, ShowsTheNumbersOfNtm) {
  EXPECT_THAT(
      explained({"model.attention.kind=ntm", "model.attention.size=512"}, "the cat\n"),
      AllOf(ContainsRegex("  β = [0-9.]+, g = 0[.][0-9]+, s = \\(.*, .*, .*\\), γ = [0-9.]+\n"),
            HasSubstr("weight α_ts"), HasSubstr("score e_ts")));
}

TEST_F(Explain, ShowsEachHead) {
  EXPECT_THAT(
      explained({"model.attention.kind=multi_head", "model.attention.heads=2"}, "the cat\n"),
      ContainsRegex("  s  x_s +head 1 +head 2 +weight α_ts"));
}

TEST_F(Explain, ShowsTheGenerationProbability) {
  EXPECT_THAT(explained({"model.output.kind=copy"}, "the cat\n"),
              ContainsRegex("  p_gen = 0[.][0-9]+\n"));
}

TEST_F(Explain, ShowsThePositionOfAWindowFromOne) {
  const auto text =
      explained({"model.attention.kind=local_m", "model.attention.size=512"}, "the cat sees\n");
  EXPECT_THAT(text, HasSubstr("  p_t = 1.000\n"));
  EXPECT_THAT(text, HasSubstr("score e_ts"));
}

TEST_F(Explain, ShowsAPointersProbabilities) {
  for (const std::string part : {"train", "dev"}) {
    write_text(folder_ / (part + ".en"), "7 3 5\n1 2\n");
    write_text(folder_ / (part + ".fr"), "1 2 0\n0 1\n");
  }
  EXPECT_THAT(explained({"model.output.kind=pointer", "model.encoder.numbers=1",
                         "model.attention.kind=none", "model.attention.size=512",
                         "model.decoder.readout_size=1"},
                        "4 9\n"),
              AllOf(HasSubstr("P(y_t = s)"), ContainsRegex("  1  4 +0[.][0-9]+"),
                    Not(HasSubstr("weight"))));
}

}  // namespace
}  // namespace regard::explain_test
