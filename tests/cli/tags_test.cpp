// Tags of corpora and user symbols: one model for several target languages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>

#include "tests/cli/train.h"

namespace regard::tags_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A model that translates the toy language, or copies it, as the tag says.
class Tags : public Train {
 protected:
  Finished train_with(const std::string& side, const Words& more = {}) const {
    const Words overrides = {
        "data.tokenizer.user_symbols=[<2fr>, <2en>]",
        "data.tokenizer.joint=true",
        "data.train.0." + side + "=<2fr>",
        "data.train.1.src=" + path("train.en"),
        "data.train.1.trg=" + path("train.en"),
        "data.train.1." + side + "=<2en>",
        "data.dev." + side + "=<2fr>",
    };
    return train(overrides + more);
  }
  static std::string translate(const std::string& model, const Words& more,
                               const std::string& text) {
    const auto result = run(Words{"translate", "-m", model} + more, text);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
  // Returns the number of equal lines.
  static std::size_t agreement(const std::string& a, const std::string& b) {
    const auto left = lines_of(a);
    const auto right = lines_of(b);
    EXPECT_EQ(left.size(), right.size());
    std::size_t equal = 0;
    for (std::size_t i = 0; i < left.size(); ++i) equal += left[i] == right[i];
    return equal;
  }

  std::string source() const { return read_text(folder_ / "dev.en"); }
  std::string target() const { return read_text(folder_ / "dev.fr"); }
};

std::ptrdiff_t words_of(const std::string& text) {
  return std::ranges::count(text, ' ') + 1;
}

std::string tagged(const std::string& tag, const std::string& text) {
  std::string all;
  for (const auto& line : lines_of(text)) all += tag + " " + line + "\n";
  return all;
}

TEST_F(Tags, OneModelServesTwoTargetLanguagesByTheTagOfTheSource) {
  const auto model = tiny_tagged("src_tag").string();
  const auto lines = lines_of(source()).size();
  const auto french = translate(model, {"--src-tag", "<2fr>"}, source());
  const auto english = translate(model, {"--src-tag", "<2en>"}, source());
  EXPECT_GT(agreement(french, target()), lines * 6 / 10);
  EXPECT_GT(agreement(english, source()), lines * 6 / 10);
  EXPECT_EQ(french, translate(model, {}, tagged("<2fr>", source())))
      << "a tag in the text is the same";
  const auto evaluated = run({"evaluate", "-m", model, "--src-tag", "<2en>", "-s", path("dev.en"),
                              "-r", path("dev.en"), "--metrics", "exact"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
}

// Returns the source word of each target word in a line of Pharaoh's format.
std::map<std::ptrdiff_t, std::ptrdiff_t> sources_of(const std::string& links) {
  std::map<std::ptrdiff_t, std::ptrdiff_t> sources;
  std::istringstream text(links);
  std::ptrdiff_t s = 0, t = 0;
  for (char dash = 0; text >> s >> dash >> t;) sources[t] = s;
  return sources;
}

// The model sees the same tokens whether the tag is an option or in the text. Only the text
// differs: its first word is the tag, or not.
TEST_F(Tags, AlignmentsAndShortlistsCountTheWordsOfTheTextWithoutTheTag) {
  for (const std::string kind : {"word", "bpe", "character"}) {
    ASSERT_EQ(
        train_with("src_tag", {"--fresh", "training.max_steps=150", "data.tokenizer.kind=" + kind,
                               "data.tokenizer.vocabulary_size=60"})
            .code,
        0);
    file("tagged.en", tagged("<2fr>", source()));
    const auto pairs = [&](const Words& command, const Words& text, const char* output) {
      const auto finished =
          run(command + Words{"-m", path("run")} + text + Words{"-t", path("dev.fr")} +
              Words{command[0] == "score" ? "--align" : "-o", path(output)});
      EXPECT_EQ(finished.code, 0) << finished.err;
      return read_text(path(output));
    };
    const Words by_option = {"--src-tag", "<2fr>", "-s", path("dev.en")};
    const Words in_text = {"-s", path("tagged.en")};
    const auto links = lines_of(pairs({"score"}, by_option, "links"));
    const auto shifted = lines_of(pairs({"score"}, in_text, "shifted"));
    ASSERT_EQ(links.size(), shifted.size());
    std::size_t compared = 0;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const auto words = words_of(lines_of(source())[i]);
      const auto ours = sources_of(links[i]), theirs = sources_of(shifted[i]);
      EXPECT_EQ(ours.size(), theirs.size());
      for (const auto& [t, s] : ours) {
        EXPECT_LT(s, words) << kind << ", line " << i + 1;
        if (theirs.at(t) == 0) continue;  // the tag attracts this word
        EXPECT_EQ(s, theirs.at(t) - 1) << kind << ", line " << i + 1;
        ++compared;
      }
    }
    EXPECT_GT(compared, 4U) << kind;
    EXPECT_EQ(pairs({"shortlist"}, by_option, "a"), pairs({"shortlist"}, in_text, "b")) << kind;
  }
}

TEST_F(Tags, OneModelServesTwoTargetLanguagesByTheTagOfTheTarget) {
  const auto model = tiny_tagged().string();
  const auto lines = lines_of(source()).size();
  for (const std::string beam : {"1", "3"}) {
    const auto french = translate(model, {"--trg-tag", "<2fr>", "--beam-size", beam}, source());
    const auto english = translate(model, {"--trg-tag", "<2en>", "--beam-size", beam}, source());
    EXPECT_GT(agreement(french, target()), lines * 6 / 10);
    EXPECT_GT(agreement(english, source()), lines * 6 / 10);
    EXPECT_EQ(french.find("<2fr>"), std::string::npos) << "the tag is no part of a translation";
  }
  // The tag of the target also decides what is probable.
  const auto score = [&](const std::string& tag) {
    const auto scored =
        run({"score", "-m", model, "--trg-tag", tag, "-s", path("dev.en"), "-t", path("dev.fr")});
    EXPECT_EQ(scored.code, 0) << scored.err;
    double sum = 0;
    for (const auto& line : lines_of(scored.out)) sum += std::stod(line);
    return sum;
  };
  EXPECT_GT(score("<2fr>"), score("<2en>"));

  const auto forgotten = run({"translate", "-m", model}, "a\n");
  EXPECT_EQ(forgotten.code, 0);
  EXPECT_THAT(forgotten.err, AllOf(HasSubstr("[\"<2fr>\", \"<2en>\"]"), HasSubstr("--trg-tag")));
  const auto known = run({"translate", "-m", model, "--trg-tag", "<2fr>"}, "a\n");
  EXPECT_EQ(known.err.find("tags"), std::string::npos) << known.err;

  // The features of an n-best list are those of the asked language.
  const auto list = run({"translate", "-m", model, "--trg-tag", "<2en>", "-i", path("dev.en"),
                         "--n-best", "3", "--beam-size", "3", "-o", path("list")});
  ASSERT_EQ(list.code, 0) << list.err;
  const auto rescored = [&](const Words& options) {
    return run(Words{"score", "-m", model, "-s", path("dev.en"), "--n-best", path("list"),
                     "--feature", "model"} +
               options);
  };
  const auto asked = rescored({"--trg-tag", "<2en>"});
  ASSERT_EQ(asked.code, 0) << asked.err;
  std::istringstream entries(asked.out);
  for (std::string entry; std::getline(entries, entry);) {
    const auto value = [&](const std::string& name) {
      return std::stod(entry.substr(entry.find(name + "= ") + name.size() + 2));
    };
    EXPECT_NEAR(value("model"), value("logprob"), 2e-4) << entry;
  }
  EXPECT_NE(rescored({"--trg-tag", "<2fr>"}).out, asked.out);
  EXPECT_EQ(rescored({"--swap", "--trg-tag", "<2fr>"}).code, 0);
  const auto unknown =
      run({"score", "-m", model, "-s", path("dev.en"), "-t", path("dev.fr"), "--align",
           path("links"), "--reverse", model, "--reverse-src-tag", "<2de>"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--reverse-src-tag: found <2de>"));
}

TEST_F(Tags, EachPartOfALongLineHasTheTagOfTheLine) {
  const auto model = tiny_tagged("src_tag").string();
  const auto lines = lines_of(source());
  const auto split = [](const std::string& tag) { return Words{"--split-length", tag}; };
  const auto together = "<2en> " + lines[0] + " . " + lines[1] + "\n";
  const auto words = std::to_string(std::max(words_of(lines[0] + " ."), words_of(lines[1])));
  EXPECT_EQ(translate(model, split(words), together),
            translate(model, Words{"--src-tag", "<2en>"} + split(words), together.substr(6)));
}

TEST_F(Tags, AValidationPairWithoutATagIsAWarning) {
  const auto trained = train_with("src_tag", {"training.max_steps=1", "data.dev.src_tag="});
  EXPECT_EQ(trained.code, 0);
  EXPECT_THAT(trained.err, HasSubstr("data.dev has no src_tag, but each corpus of data.train"));
  EXPECT_EQ(train_with("src_tag", {"training.max_steps=1", "--fresh"}).err.find("has no src_tag"),
            std::string::npos);
  const auto report = run({"info", path("run")});
  EXPECT_THAT(report.out, HasSubstr("user symbols  <2fr> <2en>"));
}

TEST_F(Tags, APreparedCorpusHasItsTags) {
  const auto prepared = (folder_ / "prepared").string();
  const Words data = {"data.tokenizer.user_symbols=[<2fr>]", "data.train.0.src_tag=<2fr>"};
  const auto made = run(Words{"prepare", "-c", config_.string(), "-o", prepared} + data);
  ASSERT_EQ(made.code, 0) << made.err;
  const auto train_into = [&](const std::string& name, const Words& more) {
    return train(Words{"data.prepared=" + prepared, "training.max_steps=5",
                       "training.model_dir=" + (folder_ / name).string()} +
                 more);
  };
  const auto trained = train_into("tagged", data + Words{"data.dev.src_tag=<2fr>"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto without = train_into(
      "without", {"data.tokenizer.user_symbols=[<2fr>]", "data.train=[]", "data.dev.src_tag="});
  ASSERT_EQ(without.code, 0) << without.err;
  EXPECT_THAT(without.err, HasSubstr("data.dev has no src_tag, but each corpus"));
  EXPECT_THAT(read_text(folder_ / "without" / "last" / "config.yaml"),
              HasSubstr("src_tag: \"<2fr>\""));
  const auto changed = train_into("changed", {"data.tokenizer.user_symbols=[<2fr>]"});
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.err, HasSubstr("found the tags `` and ``"));
}

TEST_F(Tags, AReportNamesTheKeyOfAMissingTag) {
  ASSERT_EQ(train_with("trg_tag", {"training.max_steps=1", "data.dev.trg_tag="}).code, 0);
  const auto report = run({"report", path("run")});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.err, HasSubstr("set data.dev.trg_tag and resume the run"));
}

// The model takes 9 tokens: </s>, and 8 words or a tag and 7 words.
TEST_F(Tags, ALineThatItsTagMakesTooLongIsCounted) {
  const auto trained = train_with(
      "src_tag", as_transformer() + Words{"model.encoder.position=learned", "data.max_length=8",
                                          "model.encoder.max_positions=9", "training.max_steps=1"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  write_text(folder_ / "mono", "the cat\nthe cat sees the dog and the cat\n");
  const auto made = run({"synthesize", "-m", path("run"), "-i", (folder_ / "mono").string(), "-o",
                         (folder_ / "new").string(), "--side", "target", "--keep-unfinished",
                         "--src-tag", "<2fr>"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto counts = parse_json(read_text(folder_ / "new.json")).at("counts");
  EXPECT_EQ(counts.at("too long"), 1) << counts;
}

TEST_F(Tags, AnUnknownTagIsAnErrorThatListsTheSymbols) {
  ASSERT_EQ(train_with("src_tag", {"training.max_steps=1"}).code, 0);
  for (const std::string option : {"--src-tag", "--trg-tag"}) {
    const auto refused = run({"translate", "-m", path("run"), option, "<2de>"}, "a\n");
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr(option + ": found <2de>"), HasSubstr("[\"<2fr>\", \"<2en>\"]")));
  }
  const auto refused = train({"data.train.0.src_tag=<2de>"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("expected one of data.tokenizer.user_symbols"));
}

}  // namespace
}  // namespace regard::tags_test
