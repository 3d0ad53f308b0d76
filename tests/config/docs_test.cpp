#include "config/docs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "config/options.h"
#include "config/scalar.h"

namespace regard::docs_test {
namespace {

// Compares a committed file with the generated text. REGARD_UPDATE=1 writes the file.
void expect_committed(const std::string& name, const std::string& generated) {
  const std::filesystem::path path = std::filesystem::path(REGARD_SOURCE_DIR) / name;
  if (std::getenv("REGARD_UPDATE")) write_file(path, generated);
  EXPECT_EQ(read_file<EnvironmentError>(path, "generated file"), generated)
      << name << " is out of date: run this test with REGARD_UPDATE=1 and commit the file";
}

TEST(Docs, CommittedPageIsUpToDate) {
  expect_committed("docs/configuration.md", options_markdown());
}

TEST(Docs, CommittedSchemaIsUpToDate) {
  expect_committed("configs/schema.json", options_schema());
}

TEST(Docs, PageHasATablePerSectionAndARowPerKey) {
  const std::string page = options_markdown();
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  for (std::string key : all_keys()) {
    if (const auto entry = key.find(".0."); entry != std::string::npos) key.erase(entry, 2);
    const auto dot = key.rfind('.');
    const std::string table =
        dot == std::string::npos ? "At the top" : "`" + key.substr(0, dot) + "`";
    const auto begin = page.find("\n## " + table + "\n");
    ASSERT_NE(begin, std::string::npos) << "no table for " << key;
    const std::string rows = page.substr(begin, page.find("\n## ", begin + 1) - begin);
    EXPECT_TRUE(has(rows, "\n| `" + key.substr(dot + 1) + "` | ") ||
                has(page, "\n## `" + key + "`\n"))
        << key;
  }
  EXPECT_TRUE(has(page, "\n| `threads` | a whole number between 0 and 1024 | `0` | CPU threads"));
}

TEST(Docs, SchemaHasTypesRangesDefaultsAndChoices) {
  const Json schema = Json::parse(options_schema());
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["additionalProperties"], false);
  const Json& training = schema["properties"]["training"]["properties"];
  EXPECT_EQ(training["optimizer"]["enum"], Json({"adam", "adamw", "sgd", "adadelta"}));
  EXPECT_EQ(training["optimizer"]["default"], "adam");
  EXPECT_EQ(training["label_smoothing"]["type"], "number");
  EXPECT_EQ(training["label_smoothing"]["maximum"], 0.99);
  EXPECT_EQ(training["epochs"]["type"], "integer");
  EXPECT_EQ(training["epochs"]["minimum"], 0);
  EXPECT_FALSE(training["epochs"].contains("maximum"));
  EXPECT_EQ(training["save_every"]["default"], 0);
  const Json& data = schema["properties"]["data"]["properties"];
  EXPECT_EQ(data["train"]["items"]["properties"]["weight"]["default"], 1);
  EXPECT_EQ(data["train"]["items"]["additionalProperties"], false);
  EXPECT_EQ(data["tokenizer"]["properties"]["joint"]["type"], "boolean");
}

// Checks the rules for fields: unique names, help, defaults in range.
template <Section T>
void expect_valid(const T& section, const std::string& path) {
  std::set<std::string> names;
  for_each_field(
      [&]<typename Value>(const auto& field, const Value& value) {
        const std::string key = path + std::string(field.name);
        EXPECT_TRUE(names.insert(std::string(field.name)).second) << key << " is a field twice";
        EXPECT_FALSE(field.help.empty()) << key;
        EXPECT_NE(field.help.back(), '.') << key << ": help is a phrase, not a sentence";
        if constexpr (Section<Value>) {
          expect_valid(value, key + ".");
        } else if constexpr (List<Value>) {
          expect_valid(typename Value::value_type{}, key + ".0.");
        } else if constexpr (std::same_as<Value, double> || std::same_as<Value, std::int64_t>) {
          EXPECT_TRUE(is_in_range(static_cast<double>(value), field.range))
              << key << ": default out of its range";
          EXPECT_TRUE(field.range.min > -1e300) << key << ": a number without a lower bound";
        }
      },
      section);
}

TEST(Options, EveryKeyHasHelpAndADefaultInItsRange) {
  Options options;
  expect_valid(options, "");
}

}  // namespace
}  // namespace regard::docs_test
