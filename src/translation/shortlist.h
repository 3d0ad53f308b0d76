// Lexical shortlists (Jean et al. 2015, section 3.2; L'Hostis et al. 2016): the target tokens that
// are likely in a translation of a sentence. A search that is restricted to them multiplies only
// their rows of the output layer.
//
// A shortlist file is text. Its first line has a hash of the vocabularies. The other lines have a
// source token, a target token and a number, separated by tabs: P(target token | source token) by
// links between tokens. A line without a source token has the relative frequency of the target
// token. In tokens, \\ stands for a backslash and \t for a tab. The last line is `end`, a tab, and
// the number of lines between the first and the last: a file that is cut off is an error.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/text_codec.h"
#include "decoding/search.h"

namespace regard {

// Counts the links between the tokens of aligned sentences.
class LinkCounts {
 public:
  // Counts the tokens of a target sentence. `target` has no </s>.
  void add_target(std::span<const std::int32_t> target);
  // Counts a link.
  void add_link(std::int32_t source, std::int32_t target) { ++links_[{source, target}]; }

  // Returns the shortlist file, by source token in the order of ids, then by decreasing number,
  // then by id.
  std::string to_file(const TextCodec& codec) const;

 private:
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> links_;
  std::map<std::int32_t, std::int64_t> targets_;
};

class Shortlist {
 public:
  // Reads a file. Keeps the `frequent` most frequent target tokens, and the `best` most probable
  // ones of each source token. Throws InputError with file:line if it is malformed, ConfigError if
  // the vocabularies are others than those of `codec`.
  Shortlist(const std::string& path, const TextCodec& codec, std::size_t frequent,
            std::size_t best);

  // Returns the tokens for a source sentence (without </s>), ascending: those of its tokens and of
  // </s>, the frequent ones, </s> and <unk>, and the tokens of its constraints.
  std::vector<std::int32_t> tokens(std::span<const std::int32_t> source,
                                   const SentenceOptions& constraints) const;

 private:
  std::size_t target_size_;                           // of the vocabulary
  std::vector<std::int32_t> frequent_;                // with </s> and <unk>
  std::vector<std::vector<std::int32_t>> by_source_;  // by source id
};

}  // namespace regard
