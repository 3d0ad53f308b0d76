// Untrusted sound (data/wav_file.h).
#include "data/wav_file.h"

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = fuzz::scratch() / "sound.wav";
  put_bytes(path, fuzz::as_text(data, size));
  fuzz::succeeds([&] {
    const WavFile wav(path.string());
    fuzz::check(wav.rate() > 0, "there is a rate");
    for (std::int64_t i = 0; i < wav.size(); ++i) {
      fuzz::check(wav.sample(i) >= -1 && wav.sample(i) < 1, "a sample is from -1 to 1");
    }
  });
  return 0;
}
