#include "text/sentencepiece_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/special_tokens.h"
#include "base/strings.h"
#include "base/wire_format.h"
#include "text/unicode.h"

namespace regard {
namespace {

// Iterates over the fields of a message in the wire format of Protocol Buffers.
class FieldReader {
 public:
  struct Field {
    std::uint64_t tag = 0;    // the field number and, in the lowest 3 bits, the wire type
    std::uint64_t value = 0;  // if the field is an integer, a bool or an enum
    std::string_view bytes;   // if the field is a string, a message or a float
    std::string_view whole;   // the bytes of the field, including the tag

    std::uint64_t field_number() const { return tag >> 3; }
  };

  explicit FieldReader(std::string_view message) : rest_(message) {}

  // Returns nullopt at the end, and if the message is broken; see broken().
  std::optional<Field> next() {
    if (rest_.empty() || broken_) return std::nullopt;
    Field field;
    const auto start = rest_;
    field.tag = varint();
    // The Protocol Buffers library drops bits above 32 and would read a different field.
    if (field.tag > std::numeric_limits<std::uint32_t>::max()) broken_ = true;
    switch (field.tag & 7) {
      case 0:  // varint
        field.value = varint();
        break;
      case 1:  // 64 bits
        field.bytes = take(8);
        break;
      case 2:  // length and bytes
        field.bytes = take(varint());
        break;
      case 5:  // 32 bits
        field.bytes = take(4);
        break;
      default:
        broken_ = true;
    }
    field.whole = start.substr(0, start.size() - rest_.size());
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

// The field numbers below are those of sentencepiece_model.proto.

bool is_bpe(std::string_view trainer_spec) {
  constexpr std::uint64_t model_type = 3, bpe = 2;
  std::uint64_t type = 0;
  FieldReader fields(trainer_spec);
  while (const auto field = fields.next()) {
    if (field->field_number() == model_type) type = field->value;
  }
  return type == bpe && !fields.broken();
}

// True if the model is bpe with the space symbol at the start, not the end, of each word.
bool is_plain_bpe(std::string_view trainer_spec) {
  constexpr std::uint64_t whitespace_as_suffix = 24;
  FieldReader fields(trainer_spec);
  while (const auto field = fields.next()) {
    if (field->field_number() == whitespace_as_suffix && field->value != 0) return false;
  }
  return is_bpe(trainer_spec);
}

// True if the settings have no table of normalisation rules, and the three flags about spaces are
// on, as they are by default.
bool normalizes_only_spaces(std::string_view normalizer_spec) {
  constexpr std::uint64_t charsmap = 2;
  constexpr std::uint64_t add_dummy_prefix = 3, remove_extra_spaces = 4, escape_spaces = 5;
  FieldReader fields(normalizer_spec);
  while (const auto field = fields.next()) {
    const auto number = field->field_number();
    if (number == charsmap && !field->bytes.empty()) return false;
    const bool must_be_on =
        number == add_dummy_prefix || number == remove_extra_spaces || number == escape_spaces;
    if (must_be_on && field->value == 0) return false;
  }
  return !fields.broken();
}

// Returns unit i of a trie: 32 bits, little-endian.
std::uint32_t read_unit(std::string_view trie, std::size_t i) {
  std::uint32_t unit = 0;
  for (std::size_t byte = 4; byte-- > 0;) {
    unit = unit << 8 | static_cast<unsigned char>(trie[4 * i + byte]);
  }
  return unit;
}

// True if no unit of the trie leads out of the trie or out of the strings after it. See
// normalization_rules_in_bounds() for the format.
bool table_in_bounds(std::string_view table) {
  if (table.empty()) return true;
  if (table.size() < 4) return false;
  const std::size_t trie_bytes = read_unit(table, 0);
  table.remove_prefix(4);
  if (trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes >= table.size()) return false;
  const auto trie = table.substr(0, trie_bytes);
  const auto texts = table.substr(trie_bytes);
  if (texts.back() != '\0') return false;
  constexpr std::uint32_t is_value = 1u << 31, has_value = 1u << 8, offset_is_large = 1u << 9;
  const std::size_t units = trie_bytes / 4;  // the first is the root
  for (std::size_t i = 0; i < units; ++i) {
    const auto unit = read_unit(trie, i);
    if ((unit & is_value) != 0 && i != 0)
      continue;  // a value: the search never enters it by a byte
    const auto next = i ^ ((unit >> 10) << ((unit & offset_is_large) != 0 ? 8 : 0));
    if ((next | 0xFF) >= units) return false;  // the largest unit that any byte leads to
    if ((unit & has_value) != 0 && (read_unit(trie, next) & ~is_value) >= texts.size())
      return false;
  }
  return true;
}

bool spec_in_bounds(std::string_view normalizer_spec) {
  constexpr std::uint64_t charsmap = 2;
  FieldReader fields(normalizer_spec);
  while (const auto field = fields.next()) {
    if (field->field_number() == charsmap && !table_in_bounds(field->bytes)) return false;
  }
  return !fields.broken();
}

constexpr std::uint64_t normal = 1, unknown = 2, control = 3, user_defined = 4;  // types of a piece

struct Piece {
  std::string_view text;
  std::uint64_t type = normal;
  float score = 0;
};

float read_float(std::string_view bytes) {
  return bytes.size() == 4 ? std::bit_cast<float>(read_unit(bytes, 0)) : 0;
}

// Returns nullopt if the message is broken.
std::optional<Piece> read_piece(std::string_view sentence_piece) {
  constexpr std::uint64_t piece = 1, score = 2, type = 3;
  Piece read;
  FieldReader fields(sentence_piece);
  while (const auto field = fields.next()) {
    if (field->field_number() == piece) read.text = field->bytes;
    if (field->field_number() == score) read.score = read_float(field->bytes);
    if (field->field_number() == type) read.type = field->value;
  }
  return fields.broken() ? std::nullopt : std::optional(read);
}

// True if the piece is special or one of `symbols`, or is learnt and cannot span two words. Sets
// `found_space_symbol` if it is the symbol for a space.
bool stays_in_word(std::string_view sentence_piece, std::span<const std::string> symbols,
                   bool& found_space_symbol) {
  const auto piece = read_piece(sentence_piece);
  if (!piece) return false;
  if (piece->type == user_defined && std::ranges::find(symbols, piece->text) != symbols.end()) {
    return true;
  }
  if (piece->type == unknown || piece->type == control) return true;
  found_space_symbol = found_space_symbol || piece->text == space_symbol;
  return piece->type == normal && piece->text.find(space_symbol, 1) == std::string_view::npos &&
         piece->text.find(' ') == std::string_view::npos;
}

// The fields of the trainer's settings that hold the id and the name of a special piece.
struct SpecialPiece {
  std::uint64_t id_field;
  std::uint64_t name_field;
  std::string_view name;  // the default
  std::uint64_t type;
};
constexpr SpecialPiece special_pieces[] = {{43, 48, "<pad>", control},
                                           {40, 45, "<unk>", unknown},
                                           {41, 46, "<s>", control},
                                           {42, 47, "</s>", control}};
static_assert(pad_id == 0 && unk_id == 1 && bos_id == 2 && eos_id == 3);

constexpr std::uint64_t pieces_field = 1, trainer_spec_field = 2;

constexpr std::size_t special_piece_count = std::size(special_pieces);

// The parts of a model, as bytes of the file.
struct Parts {
  std::string_view specials[special_piece_count];  // by regard's ids; empty if missing
  std::vector<std::string_view> pieces;            // including the special ones
  std::string_view trainer_spec;                   // without its tag
  std::string rest;                                // all other fields
};

// Returns the names of the special pieces, by regard's ids.
std::array<std::string_view, special_piece_count> special_piece_names(
    std::string_view trainer_spec) {
  std::array<std::string_view, special_piece_count> names;
  for (std::size_t id = 0; id < special_piece_count; ++id) names[id] = special_pieces[id].name;
  FieldReader fields(trainer_spec);
  while (const auto field = fields.next()) {
    for (std::size_t id = 0; id < special_piece_count; ++id) {
      if (field->field_number() == special_pieces[id].name_field) names[id] = field->bytes;
    }
  }
  return names;
}

// Returns nullopt if the model is broken or has several fields of settings.
std::optional<Parts> read_parts(std::string_view model) {
  Parts parts;
  int settings = 0;
  FieldReader fields(model);
  while (const auto field = fields.next()) {
    if (field->field_number() == pieces_field) {
      parts.pieces.push_back(field->whole);
    } else if (field->field_number() == trainer_spec_field) {
      parts.trainer_spec = field->bytes;
      ++settings;
    } else {
      parts.rest += field->whole;
    }
  }
  if (fields.broken() || settings > 1) return std::nullopt;
  return parts;
}

// Stores the special pieces in `parts`. Returns false if a piece is broken, if a special name
// belongs to a piece of another type or to two pieces, or if there is no <unk>.
bool find_specials(Parts& parts) {
  const auto names = special_piece_names(parts.trainer_spec);
  for (const auto whole : parts.pieces) {
    const auto piece = read_piece(FieldReader(whole).next()->bytes);
    if (!piece) return false;
    const auto id = static_cast<std::size_t>(std::ranges::find(names, piece->text) - names.begin());
    if (id == special_piece_count) continue;
    if (piece->type != special_pieces[id].type || !parts.specials[id].empty()) return false;
    parts.specials[id] = whole;
  }
  return !parts.specials[unk_id].empty();
}

}  // namespace

bool normalization_rules_in_bounds(std::string_view model) {
  constexpr std::uint64_t normalizer_spec = 3, denormalizer_spec = 5;
  FieldReader fields(model);
  while (const auto field = fields.next()) {
    const auto number = field->field_number();
    const bool has_rules = number == normalizer_spec || number == denormalizer_spec;
    if (has_rules && !spec_in_bounds(field->bytes)) return false;
  }
  return !fields.broken();
}

std::string with_literal_symbols(std::string_view text) {
  return replace_all(text, space_symbol, literal_space_symbol);
}

std::string without_literal_symbols(std::string_view text) {
  return replace_all(text, literal_space_symbol, space_symbol);
}

bool encodes_word_by_word(std::string_view model, std::span<const std::string> symbols) {
  constexpr std::uint64_t normalizer_spec = 3;
  bool bpe = false;
  bool has_space_symbol = false;
  FieldReader fields(model);
  while (const auto field = fields.next()) {
    switch (field->field_number()) {
      case pieces_field:
        if (!stays_in_word(field->bytes, symbols, has_space_symbol)) return false;
        break;
      case trainer_spec_field:
        bpe = is_plain_bpe(field->bytes);
        break;
      case normalizer_spec:
        if (!normalizes_only_spaces(field->bytes)) return false;
        break;
      default:
        break;
    }
  }
  return bpe && has_space_symbol && !fields.broken();
}

std::string with_special_pieces_first(std::string_view model) {
  auto parts = read_parts(model);
  if (!parts || !find_specials(*parts)) return std::string(model);
  const auto& found = parts->specials;
  if (parts->pieces.size() >= special_piece_count &&
      std::equal(std::begin(found), std::end(found), parts->pieces.begin())) {
    return std::string(model);  // already in order
  }
  const auto names = special_piece_names(parts->trainer_spec);
  std::string pieces;
  std::string settings(parts->trainer_spec);
  for (std::size_t id = 0; id < special_piece_count; ++id) {
    // Fields 1 and 3 of a piece are its text and its type.
    const auto added = bytes_field(1, names[id]) + integer_field(3, special_pieces[id].type);
    pieces += found[id].empty() ? bytes_field(pieces_field, added) : std::string(found[id]);
    settings += integer_field(special_pieces[id].id_field, id);  // the last of several counts
  }
  for (const auto piece : parts->pieces) {
    if (std::ranges::find(found, piece) == std::end(found)) pieces += piece;
  }
  return pieces + bytes_field(trainer_spec_field, settings) + parts->rest;
}

namespace {

// Returns the field of a piece in a model.
std::string piece_field(const Piece& piece) {
  return bytes_field(pieces_field, bytes_field(1, piece.text) + float_field(2, piece.score) +
                                       integer_field(3, piece.type));
}

// Returns nullopt if a piece is broken.
std::optional<std::vector<Piece>> read_pieces(const Parts& parts) {
  std::vector<Piece> pieces;
  for (const auto whole : parts.pieces) {
    const auto piece = read_piece(FieldReader(whole).next()->bytes);
    if (!piece) return std::nullopt;
    pieces.push_back(*piece);
  }
  return pieces;
}

std::string assemble(const Parts& parts, const std::string& pieces) {
  return pieces + bytes_field(trainer_spec_field, parts.trainer_spec) + parts.rest;
}

}  // namespace

std::string with_user_symbols(std::string_view model, std::span<const std::string> symbols) {
  const auto parts = read_parts(model);
  const auto pieces = parts ? read_pieces(*parts) : std::nullopt;
  if (!pieces || symbols.empty()) return std::string(model);
  std::string fields;
  std::vector<bool> is_found(symbols.size());
  bool is_changed = false;
  for (std::size_t id = 0; id < pieces->size(); ++id) {
    auto piece = (*pieces)[id];
    const auto at = std::ranges::find(symbols, piece.text) - symbols.begin();
    const bool is_symbol = at < std::ssize(symbols);
    if (is_symbol) is_found[static_cast<std::size_t>(at)] = true;
    if (is_symbol && piece.type == normal) {
      piece.type = user_defined;
      piece.score = 0;
      fields += piece_field(piece);
      is_changed = true;
    } else {
      fields += parts->pieces[id];
    }
  }
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (is_found[i]) continue;
    fields += piece_field({.text = symbols[i], .type = user_defined});
    is_changed = true;
  }
  return is_changed ? assemble(*parts, fields) : std::string(model);
}

std::string with_pieces_of(std::string_view model, std::string_view other, std::size_t count) {
  const auto parts = read_parts(model);
  const auto pieces = parts ? read_pieces(*parts) : std::nullopt;
  const auto other_parts = read_parts(other);
  const auto candidates = other_parts ? read_pieces(*other_parts) : std::nullopt;
  if (!pieces || !candidates) return std::string(model);
  std::set<std::string_view> known;
  float lowest = 0;
  for (const auto& piece : *pieces) {
    known.insert(piece.text);
    if (piece.type == normal) lowest = std::min(lowest, piece.score);
  }
  auto added = *candidates;
  std::erase_if(added, [&](const Piece& piece) {
    return piece.type != normal || known.contains(piece.text);
  });
  std::stable_partition(added.begin(), added.end(),
                        [](const Piece& piece) { return code_points(piece.text).size() == 1; });
  added.resize(std::min(added.size(), count));
  if (added.empty()) return std::string(model);
  const bool has_merges = is_bpe(parts->trainer_spec);
  std::string fields;
  for (const auto piece : parts->pieces) fields += piece;
  for (auto& piece : added) {
    if (has_merges) piece.score = lowest -= 1;
    fields += piece_field(piece);
  }
  return assemble(*parts, fields);
}

}  // namespace regard
