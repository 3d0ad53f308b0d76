// Reads PNG images (libpng).
#pragma once

#include <string>
#include <string_view>

#include "base/image.h"

namespace regard {

// Returns true if the bytes begin with the signature of a PNG file.
bool begins_like_png(std::string_view bytes);

// Reads a PNG file as 8 bits of red, green and blue in sRGB. Converts gray values, palettes and
// samples of other depths. Throws InputError, with the path, what was found and what was expected,
// for any other file, for one that is damaged or ends too early, for one with transparent pixels,
// whose colour would be a guess, and for one of more than 2^24 pixels.
Image read_png(const std::string& path);

}  // namespace regard
