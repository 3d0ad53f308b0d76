// Untrusted SentencePiece models: text/sentencepiece_model.h.
#include <numeric>
#include <vector>

#include "tests/fuzz/target.h"
#include "text/sentencepiece_model.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace regard {
namespace {

constexpr const char* lines[] = {"",
                                 " ",
                                 "the cat sees the dog .",
                                 "Ils  regardent\tla mer",
                                 "\u2581a\u2581b",
                                 "aaaaaaaaaaaa",
                                 "½ ﬁ Å ① ｶﾞ",
                                 "\U0001F600\u0301 \u202E",
                                 "x\u00A0y\u2028z <unk> </s> <0x41>"};

void use(const Tokenizer& tokenizer) {
  for (const auto* line : lines) {
    const auto ids = tokenizer.encode(line);
    for (const auto id : ids) {
      fuzz::check(id >= 0 && id < tokenizer.size(), "ids are in the vocabulary");
      fuzz::check(!tokenizer.token(id).empty(), "a token has a name");
    }
    static_cast<void>(tokenizer.decode(ids));
  }
  std::vector<std::int32_t> all(static_cast<std::size_t>(tokenizer.size()));
  std::iota(all.begin(), all.end(), 0);
  static_cast<void>(tokenizer.decode(all));
}

}  // namespace
}  // namespace regard

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  std::unique_ptr<Tokenizer> tokenizer;
  const auto bytes = with_special_pieces_first(fuzz::as_text(data, size));
  fuzz::check(with_special_pieces_first(bytes) == bytes, "a model in order is unchanged");
  if (!fuzz::succeeds([&] { tokenizer = load_tokenizer({}, bytes, "model"); })) return 0;
  fuzz::succeeds([&] { use(*tokenizer); });
  return 0;
}
