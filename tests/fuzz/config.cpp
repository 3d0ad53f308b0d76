// Configurations, a user's or that of a stranger's model: config/reader.h and config/check.h.
#include "config/check.h"
#include "config/reader.h"
#include "config/writer.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = fuzz::scratch() / "config.yaml";
  put_bytes(path, fuzz::text_of(data, size));
  Origins origins;
  Options options;
  if (!fuzz::answers([&] { options = read_options(path, {}, &origins); })) return 0;
  fuzz::answers([&] { check_training_options(options, origins); });

  const auto again = parse_options(write_options(options), "written");
  fuzz::promise(differing_keys(options, again).empty(), "what is written reads the same");
  return 0;
}
