#include "data/line_checks.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/data/synthetic_corpus.h"

namespace regard::line_checks_test {
namespace {

TextCodec codec_of(std::int64_t numbers, OutputKind output) {
  ModelOptions model;
  model.encoder.numbers = numbers;
  model.output.kind = output;
  const auto words = letter_words();
  const auto source = fixed_source_tokenizer(model);
  const auto target = fixed_target_tokenizer(model);
  return {source ? source : words.source, target ? target : words.target, output};
}

LineLimit max_bytes(std::size_t count) {
  LineLimit limit;
  limit.bytes = count;
  return limit;
}

LineLimit max_elements(std::size_t count) {
  LineLimit limit;
  limit.elements = count;
  return limit;
}

std::string cut(std::string line, std::size_t limit) {
  cut_long_line(line, max_bytes(limit), "text", 3);
  return line;
}

TEST(LineChecks, LimitsGrowWithTheMaximumLength) {
  DataOptions options;
  EXPECT_EQ(text_limit(options).bytes, 8192U);
  EXPECT_EQ(element_limit(options).elements, 8192U);
  options.max_length = 10'000;
  EXPECT_EQ(text_limit(options).bytes, 640'000U);
  EXPECT_EQ(element_limit(options).elements, 10'000U);
}

TEST(LineChecks, LimitsBytesOfTextAndElementsOfSequences) {
  const auto counts_elements = [](const LineLimit& limit) {
    EXPECT_EQ(limit.bytes == 8192U, limit.elements != 8192U);
    return limit.elements == 8192U;
  };
  const auto sides = [&](std::int64_t numbers, OutputKind output) {
    const auto both = codec_of(numbers, output);
    return std::pair(counts_elements(source_line_limit(both, {})),
                     counts_elements(target_line_limit(both, {})));
  };
  EXPECT_EQ(sides(0, OutputKind::vocabulary), std::pair(false, false));
  EXPECT_EQ(sides(0, OutputKind::copy), std::pair(false, false));
  EXPECT_EQ(sides(2, OutputKind::vocabulary), std::pair(true, false));
  EXPECT_EQ(sides(2, OutputKind::pointer), std::pair(true, true));
  EXPECT_EQ(sides(0, OutputKind::pointer), std::pair(true, true))
      << "positions refer to all words of the source";
}

TEST(LineChecks, CutsALineOnlyIfItIsTooLong) {
  std::string line = "ab üü";
  EXPECT_FALSE(cut_long_line(line, max_bytes(7), "text", 3));
  EXPECT_EQ(line, "ab üü");
  const auto warning = cut_long_line(line, max_bytes(4), "text", 3);
  EXPECT_EQ(line, "ab ");
  EXPECT_EQ(warning, "text:3: the line has 7 bytes, of which only the first 3 are read; split it");
}

TEST(LineChecks, CutsALineBetweenWords) {
  EXPECT_EQ(cut("one two three", 9), "one two ");
  EXPECT_EQ(cut("one two three", 8), "one two ");
  EXPECT_EQ(cut("one two three", 7), "one two");
  EXPECT_EQ(cut("one two three", 6), "one ");
  EXPECT_EQ(cut("un\u2003deux\u2003trois", 14), "un\u2003deux\u2003") << "any white space";
}

TEST(LineChecks, CutsALongWordBetweenGraphemesWithAWarning) {
  std::string line = "abüü";
  const auto warning = cut_long_line(line, max_bytes(5), "text", 3);
  EXPECT_EQ(line, "abü");
  EXPECT_EQ(warning,
            "text:3: the line has 6 bytes, of which only the first 4 are read, up to the middle of "
            "a word; split it");
  EXPECT_EQ(cut("a bcdefghijkl", 10), "a bcdefghi") << "not back to the second byte";
  EXPECT_EQ(cut("cafe\u0301s", 4), "caf") << "an accent stays with its letter";
  EXPECT_EQ(cut("caf\u4E2D\u6587", 8), "caf\u4E2D");
  EXPECT_EQ(cut("ab\U0001F469\u200D\U0001F467", 9), "ab") << "so does a joined emoji";
  std::string marks = "e";
  for (int i = 0; i < 1000; ++i) marks += "\u0301";
  EXPECT_EQ(cut(marks, 1000).size(), 999U) << "there is a limit";
}

TEST(LineChecks, NeverCutsASequence) {
  std::string line = "0.1234567 0.25  1\t2";
  EXPECT_NO_THROW(check_elements(line, max_elements(4), "numbers", 3));
  EXPECT_FALSE(cut_long_line(line, max_elements(4), "numbers", 3));
  EXPECT_THAT([&] { cut_long_line(line, max_elements(3), "numbers", 3); },
              testing::ThrowsMessage<InputError>(testing::StartsWith(
                  "numbers:3: found 4 elements, expected at most 3 (8192, or")));
  EXPECT_EQ(line, "0.1234567 0.25  1\t2");
}

TEST(LineChecks, DifferentLineCountsNameTheFirstOtherLineBreak) {
  const ScratchFolder folder;
  const auto plain = folder.write("plain", "a\nb\nc\n");
  const auto odd = folder.write("odd", "a\r\nb\u2028c\rd\n");
  EXPECT_NO_THROW(check_line_counts(plain, 3, odd, 3));
  EXPECT_THAT([&] { check_line_counts(plain, 3, odd, 1); },
              testing::ThrowsMessage<InputError>(
                  plain + " has 3 lines, but " + odd +
                  " has 1 line: line i of one must belong to line i of the other (" + odd +
                  ":2 has a lone carriage return, which does not end a line here)"));
  const auto no_text = folder.write("no_text", "a\n\xFF\n");
  EXPECT_THAT([&] { check_line_counts(plain, 3, no_text, 2); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("no_text:2: byte 1")));
}

}  // namespace
}  // namespace regard::line_checks_test
