// A shard of a prepared corpus: consecutive pairs of one corpus in a file that is read in place.
//
// All numbers are little-endian. The file is
//
//     offset  bytes   content
//          0      8   "regardSH"
//          8      4   version of this format, 1
//         12      4   lists: 1 extended ids, 2 numbers, 4 text, added up
//         16      8   n, the number of pairs
//         24      8   bytes of the file
//         32      4   numbers of each source token and </s>, 0 without numbers
//         36     28   0
//         64   16 n   index, 4 bytes each: position of the pair, source tokens, target tokens, line
//   64+16 n      …    pairs
//
// A position counts 4 bytes from the first pair. A pair is its source ids, its target ids, then, if
// the shard has these lists, its extended ids (source tokens + 1), its numbers, and its text: bytes
// of the source, bytes of the target, both texts, and zeros up to a multiple of 4.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "data/corpus_pairs.h"

namespace regard {

inline constexpr std::uint32_t shard_version = 1;

// The limits of the ids in a shard.
struct ShardVocabulary {
  std::int64_t source = 0;  // ids of a source are below this
  std::int64_t target = 0;  // ids of a target are below this
  // A target may copy or point to a position of its source: its ids are below target + source
  // tokens + 1.
  bool refers_to_source = false;
};

// Returns the bytes of a shard. At most 16 GB.
std::string shard_bytes(const CorpusPairs& pairs);

// Reads a shard in place. Does not trust its bytes: throws InputError with `name` and the pair if
// something does not fit. Thread-safe.
class PreparedShard {
 public:
  // Reads the header only. `bytes` must begin at a multiple of 4 and outlive this.
  PreparedShard(std::string name, std::string_view bytes, const ShardVocabulary& vocabulary);

  std::int64_t size() const { return static_cast<std::int64_t>(index_.size()); }
  bool has_text() const { return (lists_ & 4) != 0; }
  // Return the lengths in tokens and the line of pair i < size(). Not verified.
  std::int64_t source_length(std::int64_t i) const { return entry(i).source; }
  std::int64_t target_length(std::int64_t i) const { return entry(i).target; }
  std::int64_t line(std::int64_t i) const { return entry(i).line; }
  // Makes the processor load the lengths of pair i < size().
  void prefetch_length(std::int64_t i) const { __builtin_prefetch(&entry(i)); }
  // Verifies and returns pair i < size().
  CorpusPair pair(std::int64_t i) const;
  // Returns the place in the file of pair i < size(): the position and the number of its bytes,
  // without its numbers and text. Not verified.
  std::pair<std::size_t, std::size_t> place(std::int64_t i) const;
  // Returns the bytes of header and index.
  std::size_t index_bytes() const;

 private:
  struct Entry {
    std::uint32_t position;
    std::uint32_t source;
    std::uint32_t target;
    std::uint32_t line;
  };
  const Entry& entry(std::int64_t i) const { return index_[static_cast<std::size_t>(i)]; }

  std::string name_;
  ShardVocabulary vocabulary_;
  std::uint32_t lists_ = 0;
  std::uint32_t width_ = 0;  // numbers of each source token
  std::span<const Entry> index_;
  std::span<const std::int32_t> words_;  // all pairs
};

}  // namespace regard
