// Untrusted shards of a prepared corpus (data/prepared_shard.h). The size in the header is set to
// that of the input, so that most inputs reach the pairs.
#include "data/prepared_shard.h"

#include <cstring>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  std::string bytes(fuzz::as_text(data, size));  // at a multiple of 4
  const std::uint64_t actual = size;
  if (size >= 64) std::memcpy(bytes.data() + 24, &actual, sizeof(actual));
  for (const bool refers_to_source : {false, true}) {
    fuzz::succeeds([&] {
      const PreparedShard shard("shard", bytes, {10, 20, refers_to_source});
      for (std::int64_t i = 0; i < shard.size(); ++i) {
        fuzz::succeeds([&] {
          const auto pair = shard.pair(i);
          fuzz::check(std::ssize(pair.source) == shard.source_length(i),
                      "the source has its length");
          fuzz::check(std::ssize(pair.target) == shard.target_length(i),
                      "the target has its length");
          for (const auto id : pair.source) fuzz::check(id >= 0 && id < 10, "an id is in bounds");
          for (const auto id : pair.target) {
            fuzz::check(id >= 0 && id < 20 + (refers_to_source ? shard.source_length(i) + 1 : 0),
                        "an id is in bounds");
          }
          volatile float read = 0;  // a read outside the file is a finding of the sanitizer
          for (const auto number : pair.numbers) read = number;
          static_cast<void>(read);
          fuzz::check(pair.source_text.size() + pair.target_text.size() <= size,
                      "the text is in the file");
        });
      }
    });
  }
  return 0;
}
