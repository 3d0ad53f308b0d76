// Corpora, plain or gzip: data/line_reader.h, and what every line goes through (text/utf8.h,
// text/unicode.h).
#include "data/line_reader.h"

#include "tests/fuzz/target.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace regard {
namespace {

void look_at(const std::string& line) {
  fuzz::promise(first_invalid_utf8(line) == std::string::npos, "a line is UTF-8");
  std::string joined;
  for (const auto point : code_points(line)) joined += point;
  fuzz::promise(joined == line, "the code points are the line");
  const auto decoded = decode_utf8(line);
  fuzz::promise(encode_utf8(decoded) == line, "decoded and encoded is the same");
  fuzz::promise(first_invalid_utf8(encode_utf8(to_lower(decoded))) == std::string::npos,
                "lower case is UTF-8");
  fuzz::promise(is_blank(line) == split_words(decoded).empty(), "a blank line has no words");
}

}  // namespace
}  // namespace regard

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = (fuzz::scratch() / "corpus").string();
  put_bytes(path, fuzz::text_of(data, size));
  std::int64_t counted = 0;
  std::int64_t lines = 0;
  const bool counts = fuzz::answers([&] { counted = count_lines(path); });
  const bool reads = fuzz::answers([&] {
    LineReader reader(path);
    for (std::string line; reader.next(line); ++lines) look_at(line);
  });
  fuzz::promise(!reads || (counts && counted == lines), "as many lines as were counted");
  return 0;
}
