#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace regard::json_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string fault_of(const std::string& text) {
  std::string fault;
  const auto json = parse_json(text, &fault);
  EXPECT_EQ(json.is_discarded(), !fault.empty());
  return fault;
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

std::string object_of(int keys) {
  std::string text = "{";
  for (int i = 0; i < keys; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":{}";
  return text + "}";
}

TEST(JsonText, KeepsTheOrderOfKeys) {
  const auto json = parse_json(R"({"b": [1, {"c": null}], "a": 2.5})");
  EXPECT_EQ(json.dump(), R"({"b":[1,{"c":null}],"a":2.5})");
  EXPECT_TRUE(parse_json("7").is_number());
}

TEST(JsonText, ReportsInvalidText) {
  for (const auto* text : {"", "{", "[1,]", "nul", "{} {}", "\"\xFF\"", "{\"a\":1"}) {
    EXPECT_THAT(fault_of(text), StartsWith("parse error at line 1")) << text;
  }
}

TEST(JsonText, LimitsTheDepth) {
  EXPECT_EQ(fault_of(nested(64)), "");
  EXPECT_THAT(fault_of(nested(65)), HasSubstr("deeper than 64"));
  EXPECT_THAT(fault_of(std::string(1'000'000, '[')), HasSubstr("deeper than 64"));
}

TEST(JsonText, LimitsTheNumberOfKeys) {
  EXPECT_EQ(fault_of(object_of(1000)), "");
  EXPECT_THAT(fault_of(object_of(1001)), HasSubstr("more than 1000 keys"));
  EXPECT_EQ(fault_of("[" + object_of(1000) + "," + object_of(1000) + "]"), "");
}

// The library's own callback takes quadratic time: half a minute here.
TEST(JsonText, ParsesManyObjectsInLinearTime) {
  std::string text = "[{}";
  for (int i = 1; i < 200'000; ++i) text += ",{}";
  text += "]";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_json(text).size(), 200'000);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace regard::json_test
