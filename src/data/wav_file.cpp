#include "data/wav_file.h"

#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/strings.h"

namespace regard {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are little-endian");

template <typename T>
T number_at(std::string_view bytes, std::size_t at) {
  T number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

template <typename... Args>
[[noreturn]] void reject_wav(const std::string& path, fmt::format_string<Args...> format,
                             Args&&... args) {
  throw InputError("{}: {}; convert it, for example with `sox IN.wav -b 16 -c 1 -r 16000 OUT.wav`",
                   path, fmt::format(format, std::forward<Args>(args)...));
}

struct WavFormat {
  std::uint16_t code;
  std::uint16_t channels;
  std::uint32_t rate;
  std::uint16_t bits;
};

constexpr std::size_t chunk_header = 8;
constexpr std::size_t smallest_format = 16;

WavFormat parse_format(const std::string& path, std::string_view chunk) {
  if (chunk.size() < smallest_format) {
    reject_wav(path, "the format chunk has {}, expected at least {}", counted(chunk.size(), "byte"),
               smallest_format);
  }
  WavFormat format{number_at<std::uint16_t>(chunk, 0), number_at<std::uint16_t>(chunk, 2),
                   number_at<std::uint32_t>(chunk, 4), number_at<std::uint16_t>(chunk, 14)};
  constexpr std::uint16_t extensible = 0xFFFE;  // the code follows
  if (format.code == extensible && chunk.size() >= 26) {
    format.code = number_at<std::uint16_t>(chunk, 24);
  }
  return format;
}

void check_format(const std::string& path, const WavFormat& format) {
  constexpr std::uint16_t pcm = 1;
  if (format.code != pcm) reject_wav(path, "found WAV format {}, expected 1 (PCM)", format.code);
  if (format.channels != 1) {
    reject_wav(path, "found {}, expected 1", counted(format.channels, "channel"));
  }
  if (format.bits != 16) reject_wav(path, "found samples of {} bits, expected 16", format.bits);
  if (format.rate == 0) reject_wav(path, "found a rate of 0 Hz");
}

}  // namespace

WavFile::WavFile(const std::string& path) : file_(path) {
  const auto bytes = file_.bytes();
  if (!bytes.starts_with("RIFF") || bytes.size() < 12 || bytes.substr(8, 4) != "WAVE") {
    reject_wav(path, "found no WAV file (RIFF, WAVE)");
  }
  std::optional<WavFormat> format;
  for (std::size_t at = 12; at + chunk_header <= bytes.size();) {
    const auto name = bytes.substr(at, 4);
    const std::size_t size = number_at<std::uint32_t>(bytes, at + 4);
    at += chunk_header;
    if (size > bytes.size() - at) {
      reject_wav(path, "chunk `{}` has {} by its header, but the file ends after {}",
                 escape_controls(name), counted(size, "byte"), bytes.size() - at);
    }
    if (name == "fmt ") format = parse_format(path, bytes.substr(at, size));
    if (name == "data") {
      if (!format) reject_wav(path, "found no format chunk before the samples");
      check_format(path, *format);
      if (size % 2 == 1) reject_wav(path, "found {} of samples of 2 bytes", counted(size, "byte"));
      rate_ = format->rate;
      samples_ = bytes.substr(at, size);
      return;
    }
    at += size + size % 2;
  }
  reject_wav(path, "found no samples (chunk `data`)");
}

double WavFile::sample(std::int64_t i) const {
  return number_at<std::int16_t>(samples_, 2 * static_cast<std::size_t>(i)) / 32768.0;
}

}  // namespace regard
