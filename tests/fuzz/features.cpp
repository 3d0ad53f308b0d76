// Untrusted files of features (data/feature_file.h).
#include "data/feature_file.h"

#include <cmath>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = fuzz::scratch() / "features.safetensors";
  put_bytes(path, fuzz::as_text(data, size));
  fuzz::succeeds([&] {
    const FeatureFile file(path.string());
    for (std::int64_t i = 0; i < file.size(); ++i) {
      fuzz::check(file.item(i).count() == file.length(i), "an item has its length");
      fuzz::succeeds([&] {
        for (const auto value : file.checked_item(i + 1).values) {
          fuzz::check(std::isfinite(value), "a checked number is finite");
        }
      });
    }
  });
  return 0;
}
