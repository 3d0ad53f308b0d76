// Pharaoh alignments, line by line: data/line_reader.h, metrics/alignment_error.h.
#include "metrics/alignment_error.h"

#include "data/line_reader.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = (fuzz::scratch() / "alignments").string();
  put_bytes(path, fuzz::text_of(data, size));
  std::vector<Alignment> alignments;
  const bool read = fuzz::answers([&] {
    LineReader reader(path);
    std::string line;
    while (reader.next(line)) {
      alignments.push_back(parse_alignment(line, path, alignments.size() + 1));
    }
  });
  if (!read) return 0;

  const auto same = score_alignments(alignments, alignments);
  fuzz::promise(same.error_rate == 0 && same.matches == same.sure, "it agrees with itself");
  const auto none = score_alignments(std::vector<Alignment>(alignments.size()), alignments);
  fuzz::promise(none.matches == 0 && none.sure == same.sure, "nothing agrees with nothing");
  return 0;
}
