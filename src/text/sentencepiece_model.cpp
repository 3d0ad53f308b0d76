#include "text/sentencepiece_model.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "text/space_sign.h"

namespace regard {
namespace {

// The fields of a message in Protocol Buffers' wire format, one after the other.
class Fields {
 public:
  struct Field {
    std::uint64_t tag = 0;
    std::uint64_t value = 0;  // where it is a number: varints and enumerations only
    std::string_view bytes;   // where it is a text or a message

    std::uint64_t number() const { return tag >> 3; }
  };

  explicit Fields(std::string_view message) : rest_(message) {}

  // None at the end, and where the message is broken: broken() tells.
  std::optional<Field> next() {
    if (rest_.empty() || broken_) return std::nullopt;
    Field field;
    field.tag = varint();
    // The library drops what is above 32 bits, and would see another field.
    if (field.tag > std::numeric_limits<std::uint32_t>::max()) broken_ = true;
    switch (field.tag & 7) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.bytes = take(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.bytes = take(4);
        break;
      default:
        broken_ = true;
    }
    return broken_ ? std::nullopt : std::optional(field);
  }
  bool broken() const { return broken_; }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    broken_ = true;
    return 0;
  }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) broken_ = true;
    if (broken_) return {};
    const auto bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  bool broken_ = false;
};

// The numbers below are those of sentencepiece_model.proto.

bool is_plain_bpe(std::string_view trainer_spec) {
  constexpr std::uint64_t model_type = 3, whitespace_as_suffix = 24;
  constexpr std::uint64_t bpe = 2;
  bool is_bpe = false;
  Fields fields(trainer_spec);
  while (const auto field = fields.next()) {
    if (field->number() == model_type) is_bpe = field->value == bpe;
    if (field->number() == whitespace_as_suffix && field->value != 0) return false;
  }
  return is_bpe && !fields.broken();
}

bool changes_nothing_but_spaces(std::string_view normalizer_spec) {
  constexpr std::uint64_t charsmap = 2;
  constexpr std::uint64_t dummy_prefix = 3, no_extra_spaces = 4, escaped_spaces = 5;
  Fields fields(normalizer_spec);
  while (const auto field = fields.next()) {
    const auto number = field->number();
    if (number == charsmap && !field->bytes.empty()) return false;
    const bool wanted_on =
        number == dummy_prefix || number == no_extra_spaces || number == escaped_spaces;
    if (wanted_on && field->value == 0) return false;
  }
  return !fields.broken();
}

std::uint32_t unit_at(std::string_view trie, std::size_t i) {
  std::uint32_t unit = 0;
  for (std::size_t byte = 4; byte-- > 0;) {
    unit = unit << 8 | static_cast<unsigned char>(trie[4 * i + byte]);
  }
  return unit;
}

bool table_stays_inside(std::string_view table) {
  if (table.empty()) return true;
  if (table.size() < 4) return false;
  const std::size_t trie_bytes = unit_at(table, 0);
  table.remove_prefix(4);
  if (trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes >= table.size()) return false;
  const auto trie = table.substr(0, trie_bytes);
  const auto texts = table.substr(trie_bytes);
  if (texts.back() != '\0') return false;
  constexpr std::uint32_t is_value = 1u << 31, has_value = 1u << 8, offset_is_large = 1u << 9;
  const std::size_t units = trie_bytes / 4;  // the first is the root, which any text begins with
  for (std::size_t i = 0; i < units; ++i) {
    const auto unit = unit_at(trie, i);
    if ((unit & is_value) != 0 && i != 0) continue;  // no byte leads to it
    const auto next = i ^ ((unit >> 10) << ((unit & offset_is_large) != 0 ? 8 : 0));
    if ((next | 0xFF) >= units) return false;
    if ((unit & has_value) != 0 && (unit_at(trie, next) & ~is_value) >= texts.size()) return false;
  }
  return true;
}

bool rules_of_spec_stay_inside(std::string_view normalizer_spec) {
  constexpr std::uint64_t charsmap = 2;
  Fields fields(normalizer_spec);
  while (const auto field = fields.next()) {
    if (field->number() == charsmap && !table_stays_inside(field->bytes)) return false;
  }
  return !fields.broken();
}

// A piece that is learnt or special; `spells_space` becomes true where it is the sign for a space.
bool keeps_to_one_word(std::string_view sentence_piece, bool& spells_space) {
  constexpr std::uint64_t piece = 1, type = 3;
  constexpr std::uint64_t normal = 1, unknown = 2, control = 3;
  std::uint64_t of_type = normal;
  std::string_view text;
  Fields fields(sentence_piece);
  while (const auto field = fields.next()) {
    if (field->number() == piece) text = field->bytes;
    if (field->number() == type) of_type = field->value;
  }
  if (fields.broken()) return false;
  if (of_type == unknown || of_type == control) return true;
  spells_space = spells_space || text == space_sign;
  return of_type == normal && text.find(space_sign, 1) == std::string_view::npos &&
         text.find(' ') == std::string_view::npos;
}

}  // namespace

bool rules_stay_inside(std::string_view model) {
  constexpr std::uint64_t normalizer_spec = 3, denormalizer_spec = 5;
  Fields fields(model);
  while (const auto field = fields.next()) {
    const auto number = field->number();
    const bool has_rules = number == normalizer_spec || number == denormalizer_spec;
    if (has_rules && !rules_of_spec_stay_inside(field->bytes)) return false;
  }
  return !fields.broken();
}

bool encodes_word_by_word(std::string_view model) {
  constexpr std::uint64_t pieces = 1, trainer_spec = 2, normalizer_spec = 3;
  bool bpe = false;
  bool has_space_sign = false;
  Fields fields(model);
  while (const auto field = fields.next()) {
    switch (field->number()) {
      case pieces:
        if (!keeps_to_one_word(field->bytes, has_space_sign)) return false;
        break;
      case trainer_spec:
        bpe = is_plain_bpe(field->bytes);
        break;
      case normalizer_spec:
        if (!changes_nothing_but_spaces(field->bytes)) return false;
        break;
      default:
        break;
    }
  }
  return bpe && has_space_sign && !fields.broken();
}

}  // namespace regard
