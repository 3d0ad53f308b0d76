#include "data/png_file.h"

#include <png.h>

#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/strings.h"

namespace regard {
namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);
constexpr std::int64_t max_pixels = std::int64_t{1} << 24;

template <typename... Args>
[[noreturn]] void reject_png(const std::string& path, fmt::format_string<Args...> format,
                             Args&&... args) {
  throw InputError("{}: {}; convert it, for example with `convert IN -alpha remove OUT.png`", path,
                   fmt::format(format, std::forward<Args>(args)...));
}

// libpng's state of an image, with a version and zeros elsewhere at first.
class PngImage {
 public:
  PngImage() { control.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&control); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  png_image control = {};
};

}  // namespace

bool begins_like_png(std::string_view bytes) {
  return bytes.starts_with(signature);
}

Image read_png(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  if (!begins_like_png(bytes)) reject_png(path, "found no PNG file");
  PngImage png;
  auto& control = png.control;
  const auto check = [&](int succeeded) {
    if (succeeded == 0) reject_png(path, "found a damaged PNG file ({})", control.message);
  };
  check(png_image_begin_read_from_memory(&control, bytes.data(), bytes.size()));
  Image image{control.width, control.height};
  if (image.width * image.height > max_pixels) {
    reject_png(path, "found {} x {} pixels, expected at most {} pixels", image.width, image.height,
               max_pixels);
  }
  if ((control.format & PNG_FORMAT_FLAG_ALPHA) != 0) {
    reject_png(path, "found transparent pixels (an alpha channel), expected opaque ones");
  }
  control.format = PNG_FORMAT_RGB;
  // Samples of 16 bits without a gamma are sRGB, as those of 8 bits are.
  control.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  image.rgb.resize(PNG_IMAGE_SIZE(control));
  check(png_image_finish_read(&control, /*background=*/nullptr, image.rgb.data(),
                              /*row_stride=*/0, /*colormap=*/nullptr));
  return image;
}

}  // namespace regard
