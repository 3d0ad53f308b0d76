#include "data/prepared_shard.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "text/unicode.h"

namespace regard {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view shard_magic = "regardSH";
constexpr std::size_t word = sizeof(std::int32_t);
constexpr std::uint32_t extended_ids_list = 1;
constexpr std::uint32_t numbers_list = 2;
constexpr std::uint32_t text_list = 4;

struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t lists;
  std::uint64_t pairs;
  std::uint64_t bytes;
  std::uint32_t width;
  std::array<char, 28> zeros;
};
static_assert(sizeof(Header) == 64);

template <typename T>
void append(std::string& bytes, std::span<const T> items) {
  bytes.append(reinterpret_cast<const char*>(items.data()), items.size_bytes());
}

template <typename T>
void append_number(std::string& bytes, T number) {
  append(bytes, std::span<const T>(&number, 1));
}

bool are_below(std::span<const std::int32_t> ids, std::int64_t end) {
  std::uint32_t largest = 0;  // of negative ids too
  for (const auto id : ids) largest = std::max(largest, static_cast<std::uint32_t>(id));
  return largest < end;
}

bool is_utf8(std::string_view text) {
  return first_invalid_utf8(text) == std::string_view::npos;
}

}  // namespace

std::string shard_bytes(const CorpusPairs& pairs) {
  const auto size = pairs.size();
  Header header{};
  std::copy(shard_magic.begin(), shard_magic.end(), header.magic.begin());
  header.version = shard_version;
  header.pairs = size;
  if (pairs.extended_ids.size() > 0) header.lists |= extended_ids_list;
  if (pairs.source_text.size() > 0) header.lists |= text_list;
  if (pairs.numbers.size() > 0) {
    header.lists |= numbers_list;
    header.width =
        static_cast<std::uint32_t>(pairs.numbers[0].size() / (pairs.source[0].size() + 1));
  }
  std::string records;
  records.reserve(word * (pairs.source.items().size() + pairs.target.items().size() +
                          pairs.extended_ids.items().size() + pairs.numbers.items().size()) +
                  pairs.source_text.items().size() + pairs.target_text.items().size());
  std::string index;
  index.reserve(sizeof(Header) + size * 4 * word);
  index.resize(sizeof(Header));
  for (std::size_t i = 0; i < size; ++i) {
    append_number(index, static_cast<std::uint32_t>(records.size() / word));
    append_number(index, static_cast<std::uint32_t>(pairs.source[i].size()));
    append_number(index, static_cast<std::uint32_t>(pairs.target[i].size()));
    append_number(index, pairs.lines[i]);
    append(records, pairs.source[i]);
    append(records, pairs.target[i]);
    if ((header.lists & extended_ids_list) != 0) append(records, pairs.extended_ids[i]);
    if ((header.lists & numbers_list) != 0) append(records, pairs.numbers[i]);
    if ((header.lists & text_list) == 0) continue;
    append_number(records, static_cast<std::uint32_t>(pairs.source_text[i].size()));
    append_number(records, static_cast<std::uint32_t>(pairs.target_text[i].size()));
    append(records, pairs.source_text[i]);
    append(records, pairs.target_text[i]);
    records.resize((records.size() + word - 1) / word * word);
  }
  header.bytes = index.size() + records.size();
  std::memcpy(index.data(), &header, sizeof(header));
  return index + records;
}

PreparedShard::PreparedShard(std::string name, std::string_view bytes,
                             const ShardVocabulary& vocabulary)
    : name_(std::move(name)), vocabulary_(vocabulary) {
  Header header{};
  if (bytes.size() >= sizeof(header)) std::memcpy(&header, bytes.data(), sizeof(header));
  if (!std::equal(shard_magic.begin(), shard_magic.end(), header.magic.begin())) {
    throw InputError(
        "{}: not a shard of a prepared corpus; run `regard prepare` again into another folder",
        name_);
  }
  if (header.version != shard_version) {
    throw InputError(
        "{}: found version {} of the format, expected {}; run `regard prepare` again into another "
        "folder",
        name_, header.version, shard_version);
  }
  if (header.bytes != bytes.size()) {
    throw InputError(
        "{}: found {} bytes, expected {}: the file is incomplete or was changed; run `regard "
        "prepare` again into another folder",
        name_, bytes.size(), header.bytes);
  }
  const auto rest = bytes.size() - sizeof(header);
  if (header.pairs > rest / sizeof(Entry) || rest % word != 0 ||
      header.lists > (extended_ids_list | numbers_list | text_list) ||
      ((header.lists & numbers_list) != 0) != (header.width > 0)) {
    throw InputError("{}: damaged header; run `regard prepare` again into another folder", name_);
  }
  lists_ = header.lists;
  width_ = header.width;
  const auto* entries = reinterpret_cast<const Entry*>(bytes.data() + sizeof(header));
  index_ = {entries, static_cast<std::size_t>(header.pairs)};
  words_ = {reinterpret_cast<const std::int32_t*>(bytes.data() + index_bytes()),
            (bytes.size() - index_bytes()) / word};
}

std::pair<std::size_t, std::size_t> PreparedShard::place(std::int64_t i) const {
  const Entry& found = entry(i);
  return {index_bytes() + word * std::size_t{found.position},
          word * (std::size_t{found.source} + found.target)};
}

std::size_t PreparedShard::index_bytes() const {
  return sizeof(Header) + index_.size_bytes();
}

CorpusPair PreparedShard::pair(std::int64_t i) const {
  const Entry& found = entry(i);
  const auto fail = [&] {
    return InputError("{}: pair {} is damaged; run `regard prepare` again into another folder",
                      name_, i);
  };
  auto rest = words_.subspan(std::min<std::size_t>(found.position, words_.size()));
  const auto take = [&](std::uint64_t words) {
    if (words > rest.size()) throw fail();
    const auto taken = rest.first(static_cast<std::size_t>(words));
    rest = rest.subspan(taken.size());
    return taken;
  };
  const auto source_states = std::uint64_t{found.source} + 1;  // with </s>
  CorpusPair pair{.source = take(found.source), .target = take(found.target)};
  const auto target_end = vocabulary_.target;
  const auto length = static_cast<std::int64_t>(found.source);
  if (!are_below(pair.source, vocabulary_.source) ||
      !are_below(pair.target, target_end + (vocabulary_.refers_to_source ? length + 1 : 0))) {
    throw fail();
  }
  if ((lists_ & extended_ids_list) != 0) {
    pair.extended_ids = take(source_states);
    if (!are_below(pair.extended_ids, target_end + length)) throw fail();
  }
  if ((lists_ & numbers_list) != 0) {
    const auto numbers = take(source_states * width_);
    pair.numbers = {reinterpret_cast<const float*>(numbers.data()), numbers.size()};
  }
  if ((lists_ & text_list) == 0) return pair;
  const auto sizes = take(2);
  const auto source_bytes = static_cast<std::uint32_t>(sizes[0]);
  const auto target_bytes = static_cast<std::uint32_t>(sizes[1]);
  const auto text = take((std::uint64_t{source_bytes} + target_bytes + word - 1) / word);
  const auto* characters = reinterpret_cast<const char*>(text.data());
  pair.source_text = {characters, source_bytes};
  pair.target_text = {characters + source_bytes, target_bytes};
  if (!is_utf8(pair.source_text) || !is_utf8(pair.target_text)) throw fail();
  return pair;
}

}  // namespace regard
