// Untrusted vocabularies of words and characters: text/vocabulary.h. The first byte selects the
// kind and lower-casing.
#include "text/vocabulary.h"

#include <numeric>
#include <vector>

#include "tests/fuzz/target.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  if (size == 0) return 0;
  TokenizerOptions options;
  options.kind = (data[0] & 1) != 0 ? TokenizerKind::word : TokenizerKind::character;
  options.lowercase = (data[0] & 2) != 0;
  const auto bytes = fuzz::as_text(data + 1, size - 1);
  std::unique_ptr<Tokenizer> tokenizer;
  if (!fuzz::succeeds([&] { tokenizer = load_tokenizer(options, bytes, "vocabulary"); })) return 0;

  const auto serialized = tokenizer->serialized();
  fuzz::check(load_tokenizer(options, serialized, "again")->serialized() == serialized,
              "written output reads back the same");
  const auto ids = tokenizer->encode(serialized);
  fuzz::check(tokenizer->pieces(serialized).size() == ids.size(), "one piece per token");
  for (const auto id : ids) {
    fuzz::check(id == unk_id || (id >= special_count && id < tokenizer->size()),
                "ids are in the vocabulary");
  }
  std::vector<std::int32_t> all(static_cast<std::size_t>(tokenizer->size()));
  std::iota(all.begin(), all.end(), 0);
  fuzz::check(first_invalid_utf8(tokenizer->decode(all)) == std::string_view::npos,
              "decoded text is UTF-8");
  return 0;
}
