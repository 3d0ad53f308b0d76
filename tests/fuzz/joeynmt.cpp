// Configurations of JoeyNMT's, which a user may have from anywhere: config/joeynmt.h.
#include "config/joeynmt.h"

#include "config/reader.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto text = fuzz::text_of(data, size);
  Converted converted;
  if (!fuzz::answers([&] { converted = convert_joeynmt(text, "joey.yaml"); })) return 0;
  const auto reads = fuzz::answers([&] { parse_options(converted.yaml, "converted"); });
  fuzz::promise(reads || !converted.notes.empty(), "what does not read has a note that says so");
  return 0;
}
