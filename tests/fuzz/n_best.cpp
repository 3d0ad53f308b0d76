// N-best lists in the format of Moses, line by line: data/line_reader.h, text/n_best.h.
#include "text/n_best.h"

#include "data/line_reader.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = (fuzz::scratch() / "n_best").string();
  put_bytes(path, fuzz::as_text(data, size));
  fuzz::succeeds([&] {
    LineReader reader(path);
    std::string line;
    while (reader.next(line)) {
      const auto entry = parse_n_best(line, path, reader.line_number());
      const auto again = parse_n_best(format_n_best(entry), path, reader.line_number());
      fuzz::check(again.sentence == entry.sentence && again.text == entry.text &&
                      again.features == entry.features && again.score == entry.score &&
                      again.extra_fields == entry.extra_fields,
                  "written output reads back the same");
    }
  });
  return 0;
}
