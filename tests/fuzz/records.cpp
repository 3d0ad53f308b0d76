// Columns of files of records: data/text_stream.h and data/column_choice.h. The first byte of the
// input is the format, the bytes up to the first line feed the column, and the rest the file.
#include <array>

#include "data/column_choice.h"
#include "data/line_reader.h"
#include "tests/fuzz/target.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::array<const char*, 4> names = {"a.tsv", "a.csv", "a.jsonl", "a.tmx"};

// Returns the number of lines, or -1 for an error.
std::int64_t lines_in(const std::string& path) {
  std::int64_t lines = 0;
  const bool reads = fuzz::succeeds([&] {
    LineReader reader(path);
    for (std::string line; reader.next(line); ++lines) {
      fuzz::check(first_invalid_utf8(line) == std::string::npos, "a line is UTF-8");
      fuzz::check(line.find('\n') == std::string::npos, "a line has no line feed");
    }
  });
  return reads ? lines : -1;
}

}  // namespace
}  // namespace regard

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto text = fuzz::as_text(data, size);
  const auto feed = text.find('\n');
  if (feed == std::string_view::npos || feed == 0) return 0;
  const auto format = static_cast<std::size_t>(text[0] & 3);
  const auto path = (fuzz::scratch() / names.at(format)).string();
  put_bytes(path, text.substr(feed + 1));
  const auto column = path + "#" + std::string(text.substr(1, feed - 1));
  const auto lines = lines_in(column);
  std::int64_t counted = -1;
  fuzz::succeeds([&] { counted = count_lines(column); });
  fuzz::check(lines < 0 || lines == counted, "count_lines() counts the lines read");
  fuzz::succeeds([&] {
    const auto pair = choose_columns(path);
    const auto source = lines_in(pair.src.path), target = lines_in(pair.trg.path);
    fuzz::check(source < 0 || target < 0 || source == target, "two columns are parallel");
  });
  return 0;
}
