// Configurations of other trainers from any source: config/convert.h.
#include "config/convert.h"

#include "config/reader.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto text = fuzz::as_text(data, size);
  Converted converted;
  if (!fuzz::succeeds([&] { converted = convert_configuration(text, "other.yaml"); })) return 0;
  const auto reads = fuzz::succeeds([&] { parse_options(converted.yaml, "converted"); });
  fuzz::check(reads || !converted.notes.empty(), "an unreadable result has a note");
  return 0;
}
