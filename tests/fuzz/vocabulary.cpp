// Vocabularies of words and characters of a stranger: text/vocabulary.h. The first byte chooses
// the kind, and whether text is lower-cased.
#include "text/vocabulary.h"

#include <numeric>
#include <vector>

#include "tests/fuzz/target.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  if (size == 0) return 0;
  TokenizerOptions options;
  options.kind = (data[0] & 1) != 0 ? TokenizerKind::word : TokenizerKind::character;
  options.lowercase = (data[0] & 2) != 0;
  const auto bytes = fuzz::text_of(data + 1, size - 1);
  std::unique_ptr<Tokenizer> tokenizer;
  if (!fuzz::answers([&] { tokenizer = load_tokenizer(options, bytes, "vocabulary"); })) return 0;

  const auto serialized = tokenizer->serialized();
  fuzz::promise(load_tokenizer(options, serialized, "again")->serialized() == serialized,
                "what is written reads the same");
  const auto ids = tokenizer->encode(serialized);
  fuzz::promise(tokenizer->pieces(serialized).size() == ids.size(), "a piece for each token");
  for (const auto id : ids) {
    fuzz::promise(id == unk_id || (id >= special_count && id < tokenizer->size()), "ids are known");
  }
  std::vector<std::int32_t> all(static_cast<std::size_t>(tokenizer->size()));
  std::iota(all.begin(), all.end(), 0);
  fuzz::promise(first_invalid_utf8(tokenizer->decode(all)) == std::string_view::npos,
                "what is said is UTF-8");
  return 0;
}
