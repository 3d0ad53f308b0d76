#include "text/sentencepiece_model.h"

#include <cstdint>
#include <optional>

namespace regard {
namespace {

constexpr std::string_view space_sign = "\u2581";

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
