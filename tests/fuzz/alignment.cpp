// Pharaoh alignments, line by line: data/line_reader.h, metrics/alignment.h.
#include "metrics/alignment.h"

#include "data/line_reader.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = (fuzz::scratch() / "alignments").string();
  put_bytes(path, fuzz::as_text(data, size));
  std::vector<GoldAlignment> gold;
  const bool read = fuzz::succeeds([&] {
    LineReader reader(path);
    std::string line;
    while (reader.next(line)) {
      gold.push_back(parse_alignment(line, path, gold.size() + 1));
    }
  });
  if (!read) return 0;

  std::vector<Alignment> sure;
  std::vector<Alignment> possible;
  for (const auto& alignment : gold) {
    sure.push_back(alignment.sure);
    possible.push_back(alignment.possible);
  }
  const auto same = score_alignments(sure, gold);
  fuzz::check(same.error_rate == 0 && same.matches == same.sure, "sure links have no error");
  const auto all = score_alignments(possible, gold);
  fuzz::check(all.error_rate == 0 && all.precision == 1, "possible links have no error");
  const auto none = score_alignments(std::vector<Alignment>(gold.size()), gold);
  fuzz::check(none.matches == 0 && none.sure == same.sure, "no links have no matches");
  return 0;
}
