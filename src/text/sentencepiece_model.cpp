#include "text/sentencepiece_model.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/special_tokens.h"
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
    std::string_view whole;   // with its tag

    std::uint64_t number() const { return tag >> 3; }
  };

  explicit Fields(std::string_view message) : rest_(message) {}

  // None at the end, and where the message is broken: broken() tells.
  std::optional<Field> next() {
    if (rest_.empty() || broken_) return std::nullopt;
    Field field;
    const auto before = rest_;
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
    field.whole = before.substr(0, before.size() - rest_.size());
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

constexpr std::uint64_t normal = 1, unknown = 2, control = 3;  // types of pieces

struct Piece {
  std::string_view text;
  std::uint64_t type = normal;
};

// Nothing if the message is broken.
std::optional<Piece> read_piece(std::string_view sentence_piece) {
  constexpr std::uint64_t piece = 1, type = 3;
  Piece read;
  Fields fields(sentence_piece);
  while (const auto field = fields.next()) {
    if (field->number() == piece) read.text = field->bytes;
    if (field->number() == type) read.type = field->value;
  }
  return fields.broken() ? std::nullopt : std::optional(read);
}

// A piece that is learnt or special; `spells_space` becomes true where it is the sign for a space.
bool keeps_to_one_word(std::string_view sentence_piece, bool& spells_space) {
  const auto piece = read_piece(sentence_piece);
  if (!piece) return false;
  if (piece->type == unknown || piece->type == control) return true;
  spells_space = spells_space || piece->text == space_sign;
  return piece->type == normal && piece->text.find(space_sign, 1) == std::string_view::npos &&
         piece->text.find(' ') == std::string_view::npos;
}

std::string varint_text(std::uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(0x80 | (value & 0x7f));
  return text + static_cast<char>(value);
}

std::string number_field(std::uint64_t number, std::uint64_t value) {
  return varint_text(number << 3) + varint_text(value);
}

std::string bytes_field(std::uint64_t number, std::string_view bytes) {
  return varint_text(number << 3 | 2) + varint_text(bytes.size()) + std::string(bytes);
}

// <pad>, <unk>, <s> and </s>: where the trainer's settings keep their ids and names.
struct SpecialPiece {
  std::uint64_t id_field;
  std::uint64_t name_field;
  std::string_view name;  // unless the settings have another
  std::uint64_t type;
};
constexpr SpecialPiece special_pieces[] = {{43, 48, "<pad>", control},
                                           {40, 45, "<unk>", unknown},
                                           {41, 46, "<s>", control},
                                           {42, 47, "</s>", control}};
static_assert(pad_id == 0 && unk_id == 1 && bos_id == 2 && eos_id == 3);

constexpr std::uint64_t pieces_field = 1, trainer_spec_field = 2;

constexpr std::size_t specials = std::size(special_pieces);

// A model in its parts, each as its bytes in the file.
struct Parts {
  std::string_view specials_found[specials];  // by their ids here; empty if there is none
  std::vector<std::string_view> pieces;       // all of them
  std::string_view trainer_spec;              // without its tag
  std::string rest;
};

// The names of the special pieces by their ids here.
std::array<std::string_view, specials> special_names(std::string_view trainer_spec) {
  std::array<std::string_view, specials> names;
  for (std::size_t id = 0; id < specials; ++id) names[id] = special_pieces[id].name;
  Fields fields(trainer_spec);
  while (const auto field = fields.next()) {
    for (std::size_t id = 0; id < specials; ++id) {
      if (field->number() == special_pieces[id].name_field) names[id] = field->bytes;
    }
  }
  return names;
}

// Nothing if the model is broken, or has its settings in several fields.
std::optional<Parts> read_parts(std::string_view model) {
  Parts parts;
  int settings = 0;
  Fields fields(model);
  while (const auto field = fields.next()) {
    if (field->number() == pieces_field) {
      parts.pieces.push_back(field->whole);
    } else if (field->number() == trainer_spec_field) {
      parts.trainer_spec = field->bytes;
      ++settings;
    } else {
      parts.rest += field->whole;
    }
  }
  if (fields.broken() || settings > 1) return std::nullopt;
  return parts;
}

// False if a piece is broken, or has the name of a special one and is another.
bool find_specials(Parts& parts) {
  const auto names = special_names(parts.trainer_spec);
  for (const auto whole : parts.pieces) {
    const auto piece = read_piece(Fields(whole).next()->bytes);
    if (!piece) return false;
    const auto id = static_cast<std::size_t>(std::ranges::find(names, piece->text) - names.begin());
    if (id == specials) continue;
    if (piece->type != special_pieces[id].type || !parts.specials_found[id].empty()) return false;
    parts.specials_found[id] = whole;
  }
  return !parts.specials_found[unk_id].empty();
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
  constexpr std::uint64_t normalizer_spec = 3;
  bool bpe = false;
  bool has_space_sign = false;
  Fields fields(model);
  while (const auto field = fields.next()) {
    switch (field->number()) {
      case pieces_field:
        if (!keeps_to_one_word(field->bytes, has_space_sign)) return false;
        break;
      case trainer_spec_field:
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

std::string with_special_pieces_first(std::string_view model) {
  auto parts = read_parts(model);
  if (!parts || !find_specials(*parts)) return std::string(model);
  const auto& found = parts->specials_found;
  if (parts->pieces.size() >= specials &&
      std::equal(std::begin(found), std::end(found), parts->pieces.begin())) {
    return std::string(model);  // as they should be
  }
  const auto names = special_names(parts->trainer_spec);
  std::string pieces;
  std::string settings(parts->trainer_spec);
  for (std::size_t id = 0; id < specials; ++id) {
    const auto added = bytes_field(1, names[id]) + number_field(3, special_pieces[id].type);
    pieces += found[id].empty() ? bytes_field(pieces_field, added) : std::string(found[id]);
    settings += number_field(special_pieces[id].id_field, id);  // of two fields the last counts
  }
  for (const auto piece : parts->pieces) {
    if (std::ranges::find(found, piece) == std::end(found)) pieces += piece;
  }
  return pieces + bytes_field(trainer_spec_field, settings) + parts->rest;
}

}  // namespace regard
