#include "translation/shortlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"
#include "text/tokenizer.h"

namespace regard::translation_shortlist_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::shared_ptr<const Tokenizer> words(const std::string& list) {
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  return load_tokenizer(options, list, "words");
}

// Ids 0 to 3 are <pad> <unk> <s> </s>.
class ShortlistFile : public testing::Test {
 protected:
  ShortlistFile() {
    for (const auto& target : std::vector<std::vector<std::int32_t>>{{4, 5}, {4, 5, 5}, {4}}) {
      counts.add_target(target);
    }
    counts.add_link(4, 4);
    counts.add_link(4, 4);
    counts.add_link(4, 5);
    counts.add_link(5, 6);
    counts.add_link(3, 5);
  }
  std::string write(const std::string& text) { return folder.write("list", text); }
  std::vector<std::int32_t> tokens(std::size_t frequent, std::size_t best,
                                   const std::vector<std::int32_t>& source,
                                   const SentenceOptions& constraints = {}) {
    const Shortlist shortlist(write(counts.to_file(codec)), codec, frequent, best);
    return shortlist.tokens(source, constraints);
  }
  std::string error_of(const std::string& text) {
    try {
      const Shortlist shortlist(write(text), codec, 1, 1);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), expected_code);
      return error.what();
    }
    return "none";
  }

  TextCodec codec = {words("the\nback\\slash\ndog\n"), words("le\nune\nchien\nvert\n")};
  LinkCounts counts;
  ScratchFolder folder;
  ExitCode expected_code = ExitCode::input;
};

TEST_F(ShortlistFile, HasFrequenciesAndProbabilitiesInDescendingOrder) {
  const auto file = counts.to_file(codec);
  EXPECT_THAT(file, StartsWith("regard shortlist 1 "));
  EXPECT_EQ(file.substr(file.find('\n') + 1),
            "\tle\t0.500000\n\tune\t0.500000\n"
            "</s>\tune\t1.000000\n"
            "the\tle\t0.666667\nthe\tune\t0.333333\n"
            "back\\\\slash\tchien\t1.000000\n"
            "end\t6\n");
}

TEST_F(ShortlistFile, ASentenceHasTheBestTokensOfItsSource) {
  EXPECT_THAT(tokens(0, 1, {}),
              ElementsAre(1, 3, 5));  // <unk>, </s>, and that of the source's </s>
  EXPECT_THAT(tokens(0, 1, {4}), ElementsAre(1, 3, 4, 5));
  EXPECT_THAT(tokens(0, 9, {5, 6, 5}), ElementsAre(1, 3, 5, 6));
  EXPECT_THAT(tokens(1, 1, {5}), ElementsAre(1, 3, 4, 5, 6));
}

TEST_F(ShortlistFile, TokensOfConstraintsAreInIt) {
  SentenceOptions constraints;
  constraints.prefix = {7, 4};
  constraints.required_phrases = {{6}, {4, 7}};
  EXPECT_THAT(tokens(0, 1, {}, constraints), ElementsAre(1, 3, 4, 5, 6, 7));
}

TEST_F(ShortlistFile, BelongsToItsVocabularies) {
  const auto file = counts.to_file(codec);
  EXPECT_EQ(error_of(file), "none");
  expected_code = ExitCode::usage;
  codec.target = words("le\nune\nvert\nchien\n");
  EXPECT_THAT(error_of(file), HasSubstr("a shortlist for other vocabularies"));
}

TEST_F(ShortlistFile, ErrorsNameTheLine) {
  const auto file = counts.to_file(codec);
  const auto entries = file.substr(0, file.find("end\t"));  // the first line and six others
  EXPECT_THAT(error_of("the\tle\t1\n"), HasSubstr("list:1: found `the�le�1`"));
  EXPECT_THAT(error_of(""), HasSubstr("list:1: found ``"));
  EXPECT_THAT(error_of(entries + "the\tle\n"), HasSubstr("list:8: found `the�le`"));
  EXPECT_THAT(error_of(entries + "the\tle\tx\n"), HasSubstr("expected a source token"));
  EXPECT_THAT(error_of(entries + "the\tle\t1.5\n"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(error_of(entries + "the\tle\tnan\n"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(error_of(entries + "the\tcat\t1\n"),
              HasSubstr("list:8: found `cat`, which the target vocabulary"));
  EXPECT_THAT(error_of(entries + "cat\tle\t1\n"), HasSubstr("which the source vocabulary"));
  EXPECT_THAT(error_of(file + "the\tle\t1\n"),
              HasSubstr("list:9: found `the�le�1`, expected the end of the file"));
}

TEST_F(ShortlistFile, AFileThatIsCutOffAnywhereIsAnError) {
  const auto file = counts.to_file(codec);
  EXPECT_EQ(error_of(file.substr(0, file.size() - 1)), "none");  // lacks only the last line feed
  EXPECT_THAT(error_of(file.substr(0, file.find("end\t"))),
              HasSubstr("list:8: found the end of the file, expected the line `end\t6`"));
  for (auto size = file.find('\n') + 1; size < file.size() - 1; ++size) {
    EXPECT_THAT(error_of(file.substr(0, size)), HasSubstr("regard shortlist")) << size;
  }
}

}  // namespace
}  // namespace regard::translation_shortlist_test
