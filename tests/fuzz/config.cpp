// Configurations of users and of untrusted models: config/reader.h and config/check.h.
#include "config/check.h"
#include "config/reader.h"
#include "config/writer.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = fuzz::scratch() / "config.yaml";
  put_bytes(path, fuzz::as_text(data, size));
  SourceLocations locations;
  Options options;
  if (!fuzz::succeeds([&] { options = read_options(path, {}, &locations); })) return 0;
  fuzz::succeeds([&] { check_training_options(options, locations); });

  const auto again = parse_options(write_options(options), "written");
  fuzz::check(option_differences(options, again).empty(), "written output reads back the same");
  return 0;
}
