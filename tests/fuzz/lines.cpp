// Corpora, plain or gzip: data/line_reader.h and text/unicode.h.
#include "data/line_reader.h"

#include "tests/fuzz/target.h"
#include "text/unicode.h"

namespace regard {
namespace {

void check_line(const std::string& line) {
  fuzz::check(first_invalid_utf8(line) == std::string::npos, "a line is UTF-8");
  std::string joined;
  for (const auto point : code_points(line)) joined += point;
  fuzz::check(joined == line, "the code points are the line");
  const auto decoded = decode_utf8(line);
  fuzz::check(encode_utf8(decoded) == line, "decoding and encoding round-trips");
  fuzz::check(first_invalid_utf8(encode_utf8(to_lower(decoded))) == std::string::npos,
              "lower case is UTF-8");
  fuzz::check(is_blank(line) == split_words(decoded).empty(), "a blank line has no words");
}

}  // namespace
}  // namespace regard

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = (fuzz::scratch() / "corpus").string();
  put_bytes(path, fuzz::as_text(data, size));
  std::int64_t counted = 0;
  std::int64_t lines = 0;
  const bool counts = fuzz::succeeds([&] { counted = count_lines(path); });
  const bool reads = fuzz::succeeds([&] {
    LineReader reader(path);
    for (std::string line; reader.next(line); ++lines) check_line(line);
  });
  fuzz::check(!reads || (counts && counted == lines), "count_lines() counts the lines read");
  return 0;
}
