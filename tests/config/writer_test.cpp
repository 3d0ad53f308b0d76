#include "config/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

#include "base/random.h"
#include "config/reader.h"
#include "config/scalar.h"
#include "tests/config/differences.h"

namespace regard::writer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Sets every field to a random value in its range that differs from its default.
class Randomizer {
 public:
  explicit Randomizer(std::uint64_t seed) : random_(seed) {}

  template <Section T>
  void fill(T& section) {
    for_each_field(
        [&](const auto& field, auto& value) {
          const auto before = value;
          do {
            set(value, field.range);
          } while (same(before, value));
        },
        section);
  }

 private:
  template <typename T>
  static bool same(const T& a, const T& b) {
    if constexpr (Section<T> || List<T>) {
      return false;
    } else {
      return a == b;
    }
  }
  template <typename T>
  void set(T& value, Range range) {
    if constexpr (Section<T>) {
      fill(value);
    } else if constexpr (List<T>) {
      value.resize(1 + random_.below(3));
      for (auto& entry : value) fill(entry);
    } else if constexpr (Texts<T>) {
      value.resize(1 + random_.below(3));
      for (auto& text : value) set_text(text);
    } else if constexpr (Choice<T>) {
      value = static_cast<T>(random_.below(enum_names(value).size()));
    } else if constexpr (std::same_as<T, bool>) {
      value = random_.below(2) == 1;
    } else if constexpr (std::same_as<T, std::string>) {
      set_text(value);
    } else {
      const double low = std::isfinite(range.min) ? range.min : -1e6;
      const double high = std::isfinite(range.max) ? range.max : 1e6;
      value = static_cast<T>(low + random_.uniform() * (high - low));
    }
  }
  void set_text(std::string& value) {
    static const std::vector<std::string> pieces = {
        "a",  "B7", "/",      "#",    ": ",  "- ",   "\"",         "'",    "\\",     " ", "\t",
        "\n", "é",  "\u2028", "\x01", "~",   "null", "\U0001F600", "1e3",  "[",      "{", "&",
        "*",  "!",  "%",      "@",    "yes", "---",  "..",         "\x7f", "\u0085", "<<"};
    value.clear();
    for (std::uint64_t n = random_.below(6); n > 0; --n) {
      value += pieces[random_.below(pieces.size())];
    }
  }

  Random random_;
};

// Compares field by field and bit by bit, without the writer.
template <typename T>
void expect_equal(const T& a, const T& b, const std::string& key) {
  if constexpr (Section<T>) {
    for_each_field(
        [&](const auto& field, const auto& value, const auto& other) {
          expect_equal(value, other, key + "." + std::string(field.name));
        },
        a, b);
  } else if constexpr (List<T>) {
    ASSERT_EQ(a.size(), b.size()) << key;
    for (std::size_t i = 0; i < a.size(); ++i) expect_equal(a[i], b[i], key);
  } else if constexpr (std::same_as<T, double>) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b)) << key;
  } else {
    EXPECT_EQ(a, b) << key;
  }
}

TEST(Writer, WrittenOptionsReadBackTheSame) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Options options;
    Randomizer(seed).fill(options);
    complete_language_model(options);
    for (const Comments comments : {Comments::none, Comments::help}) {
      const std::string yaml = write_options(options, comments);
      Options again = parse_options(yaml, "written");
      expect_equal(options, again, "");
      ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << yaml;
    }
  }
}

TEST(Writer, DefaultsReadBackTheSame) {
  Options options;
  Options again = parse_options(write_options(options), "written");
  expect_equal(options, again, "");
}

TEST(Writer, WritesPlainYaml) {
  const Options options = parse_options(
      "data: {train: [{src: data/a.en, trg: ../b}, {src: c, trg: d, weight: 0.1}]}", "f");
  EXPECT_THAT(write_options(options), HasSubstr("name: model\n"
                                                "device: auto\n"
                                                "threads: 0\n"
                                                "data:\n"
                                                "  source: text\n"
                                                "  train:\n"
                                                "    - src: data/a.en\n"
                                                "      trg: ../b\n"
                                                "      src_tag: \"\"\n"
                                                "      trg_tag: \"\"\n"
                                                "      weight: 1\n"
                                                "    - src: c\n"
                                                "      trg: d\n"
                                                "      src_tag: \"\"\n"
                                                "      trg_tag: \"\"\n"
                                                "      weight: 0.1\n"
                                                "  dev:\n"
                                                "    src: \"\"\n"));
  EXPECT_THAT(write_options(Options{}), HasSubstr("  train: []\n"));
}

TEST(Writer, QuotesAmbiguousStrings) {
  for (const char* text : {"", "yes", "Null", "~", "1", ".5", ".inf", "-", "a b", "a: b", "#", "é",
                           "---", "0x10", "n"}) {
    EXPECT_EQ(to_yaml(std::string(text)).front(), '"') << text;
  }
  for (const char* text : {"model", "data/train.en", "./a", "../a", "/a-b_c.d", "cpu"}) {
    EXPECT_EQ(to_yaml(std::string(text)), text);
  }
}

TEST(Writer, HelpIsAboveEachKeyWithin100Columns) {
  const std::string yaml = write_options(Options{}, Comments::help);
  EXPECT_THAT(yaml, HasSubstr("\n  # the update rule [one of adam, adamw, sgd, adadelta]\n"
                              "  optimizer: adam\n"));
  EXPECT_THAT(yaml, HasSubstr("\n\n# search, for validation and translation\nsearch:\n"));
  std::istringstream lines(yaml);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(Writer, LeavesOutKeysThatNothingReadsUnlessTheyAreSet) {
  Options options;
  EXPECT_THAT(write_options(options), Not(HasSubstr("feed_forward_size")));
  EXPECT_THAT(write_options(options), Not(HasSubstr("minimum_risk:")));
  options.model.attention.heads = 4;
  EXPECT_THAT(write_options(options), HasSubstr("\n    heads: 4\n"));
  options.model.attention.kind = AttentionKind::multi_head;
  options.model.attention.heads = AttentionOptions().heads;
  EXPECT_THAT(write_options(options), HasSubstr("\n    heads: 8\n"));
}

TEST(OptionValue, IsYaml) {
  Options options;
  options.training.max_steps = 100;
  options.data.train = {{"a", "b", 1}};
  EXPECT_EQ(option_value(options, "training.max_steps"), "100");
  EXPECT_EQ(option_value(options, "data.train.0.trg"), "b");
  EXPECT_EQ(option_value(options, "data.train.1.trg"), std::nullopt);
}

TEST(Difference, EqualOptionsHaveNoDifference) {
  EXPECT_THAT(option_differences(Options{}, Options{}), IsEmpty());
}

TEST(Difference, NamesEachKeyWithBothValues) {
  Options a, b;
  a.training.max_steps = 100;
  b.training.max_steps = 200;
  b.model.tied_embeddings = TiedEmbeddings::output;
  b.name = "";
  EXPECT_THAT(difference_texts(a, b),
              ElementsAre("name: model → \"\"", "model.tied_embeddings: none → output",
                          "training.max_steps: 100 → 200"));
}

TEST(Difference, ListEntriesMayBeMissing) {
  Options a, b;
  a.data.train = {{"a", "b", 1}};
  b.data.train = {{"a", "c", 1}, {"d", "e", 2}};
  EXPECT_THAT(
      difference_texts(a, b),
      ElementsAre("data.train.0.trg: b → c", "data.train.1.src: (none) → d",
                  "data.train.1.trg: (none) → e", "data.train.1.src_tag: (none) → \"\"",
                  "data.train.1.trg_tag: (none) → \"\"", "data.train.1.weight: (none) → 2"));
  EXPECT_THAT(difference_texts(b, a), ::testing::Contains("data.train.1.src: d → (none)"));
}

TEST(Difference, IsAtItsKeyAndAtTheSectionsAboveIt) {
  const Difference difference{"model.dropout.states", "0", "1"};
  EXPECT_TRUE(difference.is_at("model.dropout.states"));
  EXPECT_TRUE(difference.is_at("model.dropout"));
  EXPECT_FALSE(difference.is_at("model.drop"));
  EXPECT_FALSE(difference.is_at("model.dropout.state"));
}

}  // namespace
}  // namespace regard::writer_test
