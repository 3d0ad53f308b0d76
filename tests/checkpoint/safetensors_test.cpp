#include "checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::safetensors_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string file_with(const std::string& header, const std::string& data = "") {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) {
    bytes += static_cast<char>(header.size() >> shift & 0xff);
  }
  return bytes + header + data;
}

void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors) {
  std::string bytes;
  encode_safetensors(tensors, [&](std::string_view piece) { bytes += piece; });
  put_bytes(path, bytes);
}

// Returns the error of reading a file of these bytes; empty if there is none.
std::string error_of(const std::string& bytes) {
  const ScratchFolder scratch;
  put_bytes(scratch / "t.safetensors", bytes);
  return message_of<CheckpointError>([&] { read_safetensors(scratch / "t.safetensors"); });
}

void expect_equal(const NamedTensors& tensors, const NamedTensors& expected) {
  ASSERT_EQ(tensors.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(tensors[i].first, expected[i].first);
    EXPECT_EQ(tensors[i].second.scalar_type(), expected[i].second.scalar_type())
        << expected[i].first;
    EXPECT_TRUE(torch::equal(tensors[i].second, expected[i].second)) << expected[i].first;
  }
}

TEST(Safetensors, RoundTripKeepsEveryTypeShapeAndOrder) {
  const ScratchFolder scratch;
  NamedTensors tensors;
  for (const auto type : {torch::kDouble, torch::kFloat, torch::kHalf, torch::kBFloat16,
                          torch::kLong, torch::kInt, torch::kByte, torch::kBool}) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{}, {0}, {1}, {3}, {2, 0, 4}, {2, 3, 1}}) {
      tensors.emplace_back(std::to_string(99 - tensors.size()),
                           torch::randint(0, 2, shape, torch::kLong).to(type));
    }
  }
  tensors.emplace_back("Größe \"x\"\n", torch::tensor({-1.5F, 3.0F}));
  const auto path = scratch / "t.safetensors";
  write_safetensors(path, tensors);

  expect_equal(read_safetensors(path), tensors);
  EXPECT_EQ(std::filesystem::file_size(path), safetensors_size(tensors));
}

TEST(Safetensors, WritesTheBytesOfTheFormat) {
  const ScratchFolder scratch;
  write_safetensors(scratch / "t", {{"w", torch::tensor({1, 258}, torch::kInt)}});
  const std::string json = R"({"w":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(bytes_of(scratch / "t"),
            file_with(json + std::string(2, ' '), std::string("\1\0\0\0\2\1\0\0", 8)));
}

// The bytes that the safetensors package for Python (0.8.0) writes.
TEST(Safetensors, ReadsFilesOfPython) {
  const ScratchFolder scratch;
  put_bytes(
      scratch / "t",
      file_with(R"({"__metadata__":{"k":"v"},"n":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                R"("w":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]},)"
                R"("m":{"dtype":"BOOL","shape":[2],"data_offsets":[16,18]}}  )",
                std::string("\7\0\0\0\0\0\0\0\0\0\xc0?\0\0\0\xc0\1\0", 18)));
  TensorMetadata metadata;
  expect_equal(read_safetensors(scratch / "t", &metadata), {{"n", torch::tensor(7, torch::kLong)},
                                                            {"w", torch::tensor({{1.5F, -2.0F}})},
                                                            {"m", torch::tensor({true, false})}});
  EXPECT_EQ(metadata.at("k"), "v");
}

TEST(Safetensors, MetadataReadsBackAsItWasWritten) {
  const ScratchFolder scratch;
  const TensorMetadata metadata{{"format", "pt"}, {"empty", ""}};
  put_bytes(scratch / "t", encode_safetensors_header({}, metadata));
  TensorMetadata found;
  EXPECT_TRUE(read_safetensors(scratch / "t", &found).empty());
  EXPECT_EQ(found, metadata);
}

TEST(Safetensors, RoundTripsAnEmptyFile) {
  const ScratchFolder scratch;
  write_safetensors(scratch / "t", {});
  EXPECT_TRUE(read_safetensors(scratch / "t").empty());
}

TEST(Safetensors, WritesTheValuesOfViews) {
  const ScratchFolder scratch;
  const torch::Tensor base = torch::arange(12).view({3, 4});
  const NamedTensors views{{"transposed", base.t()},
                           {"column", base.select(1, 2)},
                           {"expanded", torch::ones({1, 3}).expand({5, 3})}};
  write_safetensors(scratch / "t", views);
  expect_equal(read_safetensors(scratch / "t"), views);
}

TEST(Safetensors, ReadsParametersWithoutGradients) {
  const ScratchFolder scratch;
  write_safetensors(scratch / "t", {{"w", torch::ones({2}).requires_grad_()}});
  EXPECT_FALSE(read_safetensors(scratch / "t")[0].second.requires_grad());
}

TEST(Safetensors, RejectsTensorsThatTheFormatCannotRepresent) {
  const torch::Tensor one = torch::ones({1});
  const auto refusal = [](const NamedTensors& tensors) {
    return message_of<CheckpointError>([&] { safetensors_size(tensors); });
  };
  EXPECT_THAT(refusal({{"w", one}, {"w", one}}), HasSubstr("two tensors are named 'w'"));
  EXPECT_THAT(refusal({{"w", one.to(torch::kComplexFloat)}}), HasSubstr("ComplexFloat"));
  EXPECT_THAT(refusal({{"w", torch::Tensor()}}), HasSubstr("is undefined"));
  EXPECT_THAT(refusal({{"w", one.to_sparse()}}), HasSubstr("sparse"));
  EXPECT_THAT(refusal({{"__metadata__", one}}), HasSubstr("__metadata__"));
  EXPECT_THAT(refusal({{"\xff", one}}), HasSubstr("UTF-8"));
}

TEST(Safetensors, ErrorsNameAMissingFileAndAFolder) {
  const ScratchFolder scratch;
  EXPECT_THAT(message_of<CheckpointError>([&] { read_safetensors(scratch / "none"); }),
              HasSubstr("none: no such file"));
  EXPECT_THROW(read_safetensors(scratch.path()), CheckpointError);
}

TEST(Safetensors, RejectsEveryTruncation) {
  const ScratchFolder scratch;
  write_safetensors(scratch / "t", {{"a", torch::ones({7, 5})}, {"b", torch::ones({2})}});
  const std::string whole = bytes_of(scratch / "t");
  ASSERT_EQ(error_of(whole), "");
  for (std::size_t part = 0; part < 50; ++part) {
    const std::size_t size = whole.size() * part / 50;
    EXPECT_THAT(error_of(whole.substr(0, size)), HasSubstr("not a valid safetensors file")) << size;
  }
  EXPECT_THAT(error_of(whole.substr(0, whole.size() - 1)), HasSubstr("148 bytes of data"));
  EXPECT_THAT(error_of(whole + "x"), HasSubstr("the file holds 149"));
}

// Random damage must cause an error or return tensors, never crash.
TEST(Safetensors, SurvivesDamageOfAnyByteOfTheHeader) {
  const std::string whole =
      encode_safetensors_header({{"a", "F32", {2, 3}, 0, 24}, {"b", "F32", {0}, 24, 24}},
                                {{"k", "v"}}) +
      std::string(24, '\0');
  int refused = 0;
  for (std::size_t at = 0; at + 24 < whole.size(); ++at) {
    std::string wrong = whole;
    wrong[at] = "9[\"}-\xff"[at % 6];
    refused += error_of(wrong).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 80);
}

TEST(Safetensors, RejectsHeaderLengthsBeyondTheFileBeforeAllocating) {
  EXPECT_THAT(error_of(""), HasSubstr("only 0 bytes"));
  EXPECT_THAT(error_of(std::string(8, '\xff') + "{}"), HasSubstr("more than any model needs"));
  EXPECT_THAT(error_of(std::string("\0\0\0\0\0\0\4\0{}", 10)), HasSubstr("1125899906842624"));
  EXPECT_THAT(error_of(std::string("\3\0\0\0\0\0\0\0{}", 10)), HasSubstr("than the file has"));
}

TEST(Safetensors, RejectsAHeaderThatIsNotAJsonObject) {
  for (const char* header : {"", "[]", "  {}", "{", "{\"a\":}", "{\"\xff\":1}", "{} {}", "7"}) {
    EXPECT_THAT(error_of(file_with(header)), HasSubstr("header is not")) << header;
  }
  const std::string deep = "{\"a\":" + std::string(100000, '[');
  EXPECT_THAT(error_of(file_with(deep)), HasSubstr("nests deeper"));
}

struct Attack {
  const char* header;
  const char* complaint;
};

// Each file holds eight bytes of data.
TEST(Safetensors, RejectsInvalidHeaders) {
  const std::vector<Attack> attacks{
      {R"({"w":{"dtype":"F32","shape":[1125899906842624],"data_offsets":[0,4503599627370496]}})",
       "describes 4503599627370496 bytes of data, the file holds 8"},
      {R"({"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
       "impossibly large"},
      {R"({"w":{"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})",
       "impossibly large"},
      {R"({"w":{"dtype":"F64","shape":[2305843009213693953],"data_offsets":[0,8]}})",
       "impossibly large"},
      {R"({"w":{"dtype":"F32","shape":[99999999999999999999999],"data_offsets":[0,8]}})",
       "in its shape"},
      {R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "has -2 in its shape"},
      {R"({"w":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", "has 2.0 in its shape"},
      {R"({"w":{"dtype":"F32","shape":"2","data_offsets":[0,8]}})", "not a list"},
      {R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
       "needs 12 bytes by its shape, found 8 by its data_offsets"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}})", "not a pair"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "not a pair"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})", "not a pair"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", "begins at byte 4"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "the file holds 8"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
           "b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       "'b' begins at byte 4 of the data, expected byte 8"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},
           "b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
       "'b' begins at byte 4 of the data, expected byte 2"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
           "w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
       "found 'w' twice"},
      {R"({"w":{"dtype":"F32","dtype":"I32","shape":[2],"data_offsets":[0,8]}})",
       "found 'dtype' twice"},
      {R"({"w":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", "unknown dtype \"F33\""},
      {R"({"w":{"dtype":7,"shape":[2],"data_offsets":[0,8]}})", "unknown dtype 7"},
      {R"({"w":{"shape":[2],"data_offsets":[0,8]}})", "has no dtype"},
      {R"({"w":[]})", "has no dtype"},
      {R"({"__metadata__":[]})", "not a map of strings"},
      {R"({"__metadata__":{"step":7}})", "'step' in __metadata__"},
  };
  for (const Attack& attack : attacks) {
    EXPECT_THAT(error_of(file_with(attack.header, "01234567")),
                AllOf(HasSubstr("t.safetensors: "), HasSubstr(attack.complaint)))
        << attack.header;
  }
  std::string ones = "1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  EXPECT_THAT(
      error_of(file_with(R"({"w":{"dtype":"F64","shape":[)" + ones + R"(],"data_offsets":[0,8]}})",
                         "01234567")),
      HasSubstr("at most 64 sizes"));
}

std::string header_of_empty_tensors(std::size_t count) {
  std::string header = "{";
  for (std::size_t i = 0; i < count; ++i) {
    header += fmt::format(R"({}"{}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
                          i == 0 ? "" : ",", i);
  }
  return header + "}";
}

// Quadratic time would be one minute for the first and ten minutes for the second.
TEST(Safetensors, ManyEmptyTensorsTakeLinearTimeUpToALimit) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of(file_with(header_of_empty_tensors(100'000))), "");
  EXPECT_THAT(error_of(file_with(header_of_empty_tensors(170'000))),
              HasSubstr("names more than 100000 tensors"));
  NamedTensors tensors;
  const auto empty = torch::empty({0});
  for (int i = 0; i < 50'000; ++i) tensors.emplace_back(std::to_string(i), empty);
  EXPECT_GT(safetensors_size(tensors), 50'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Safetensors, BoolsAreZeroOrOne) {
  const std::string header = R"({"mask":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})";
  EXPECT_EQ(error_of(file_with(header, std::string("\0\1", 2))), "");
  EXPECT_THAT(error_of(file_with(header, "\1\2")), HasSubstr("'mask' is BOOL"));
}

TEST(Safetensors, DataMayHaveAnotherOrderThanTheHeader) {
  const ScratchFolder scratch;
  put_bytes(scratch / "t", file_with(R"({"z":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},
                                         "a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
                                     "\5\6\7"));
  expect_equal(read_safetensors(scratch / "t"),
               {{"z", torch::tensor({6, 7}, torch::kByte)}, {"a", torch::tensor(5, torch::kByte)}});
}

}  // namespace
}  // namespace regard::safetensors_test
