// Untrusted images (data/png_file.h).
#include "data/png_file.h"

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = fuzz::scratch() / "image.png";
  put_bytes(path, fuzz::as_text(data, size));
  fuzz::succeeds([&] {
    const auto image = read_png(path.string());
    fuzz::check(image.width > 0 && image.height > 0, "there are pixels");
    fuzz::check(std::ssize(image.rgb) == 3 * image.width * image.height,
                "each pixel has three numbers");
  });
  return 0;
}
