// Compressed data: data/byte_stream.h. At most 64 MB of each input are decompressed.
#include <vector>

#include "data/byte_stream.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto text = fuzz::as_text(data, size);
  const auto path = (fuzz::scratch() / "text").string();
  put_bytes(path, text);
  fuzz::succeeds([&] {
    constexpr std::size_t max_size = std::size_t{64} << 20;
    ByteStream stream(path);
    std::vector<char> buffer(1 << 16);
    std::size_t total = 0;
    while (const auto count = stream.read(buffer.data(), buffer.size())) {
      total += count;
      fuzz::check(count <= buffer.size(), "read() stores no more than asked for");
      if (total > max_size) return;
    }
    const bool is_plain = text.empty() || (text[0] != '\x1F' && text[0] != '\xFD' &&
                                           text[0] != 'B' && text[0] != '\x28');
    fuzz::check(!is_plain || total == size, "plain text is read as it is");
  });
  return 0;
}
