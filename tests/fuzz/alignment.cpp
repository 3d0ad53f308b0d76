// Pharaoh alignments: metrics/alignment_error.h.
#include "metrics/alignment_error.h"

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = fuzz::scratch() / "alignments";
  put_bytes(path, fuzz::text_of(data, size));
  std::vector<Alignment> alignments;
  if (!fuzz::answers([&] { alignments = read_alignments(path.string()); })) return 0;

  const auto same = score_alignments(alignments, alignments);
  fuzz::promise(same.error_rate == 0 && same.matches == same.sure, "it agrees with itself");
  const auto none = score_alignments(std::vector<Alignment>(alignments.size()), alignments);
  fuzz::promise(none.matches == 0 && none.sure == same.sure, "nothing agrees with nothing");
  return 0;
}
