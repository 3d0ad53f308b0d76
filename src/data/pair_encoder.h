// Encodes parallel files as pairs of token ids, on all threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "config/data_options.h"
#include "data/corpus_pairs.h"
#include "data/duplicate_filter.h"
#include "data/line_checks.h"
#include "data/text_codec.h"
#include "data/text_files.h"

namespace regard {

// Selects the pairs to encode.
enum class PairSelection {
  all,      // every pair; lines with too many bytes are cut
  trained,  // without the pairs that training skips for the reasons in CorpusReport
};

// A line of a file, for messages.
struct FileLine {
  const std::string& path;
  std::int64_t number;
  std::string_view text;
};

// Encodes pairs of lines. Immutable, so threads can share it. `codec` must outlive it.
class PairEncoder {
 public:
  PairEncoder(const DataOptions& options, const TextCodec& codec, bool keeps_text,
              PairSelection selection);

  // Adds the pair to `pairs`, and warnings of cut lines to `warnings`. Returns false if the pair
  // was skipped. Throws InputError if a line has too many elements.
  bool add(FileLine source, FileLine target, CorpusPairs& pairs,
           std::vector<std::string>& warnings) const;
  // Returns a hash of the lines and of the tags of the codec, for DuplicateFilter.
  std::uint64_t hash(std::string_view source, std::string_view target) const {
    return hash_of_pair(source, target, hash_of_tags_);
  }

 private:
  bool add_line(const FileLine& source_line, const FileLine& target_line, CorpusPairs& pairs) const;

  const TextCodec& codec_;
  bool keeps_text_;
  PairSelection selection_;
  std::int64_t max_length_;
  std::int64_t max_frames_;
  double max_ratio_;
  LineLimit source_limit_;
  LineLimit target_limit_;
  std::uint64_t hash_of_tags_;
};

struct EncodeFiles {
  const TextFile& source;
  const TextFile& target;
  DuplicateFilter* duplicates = nullptr;  // null: duplicates are kept
  // Called on one of the threads from time to time, at the same time as the encoding.
  std::function<void()> background = {};
};

// Encodes the pairs of two files and calls add(pairs) for each range of consecutive lines, in the
// order of the files, on the calling thread. The ranges do not depend on the number of threads.
// While the threads encode some blocks, two of them read the next ones. Logs warnings and throws
// the first error in the order of the lines. Throws InputError if the files differ in length.
void encode_files(const EncodeFiles& files, const PairEncoder& encoder, ThreadPool& pool,
                  const std::function<void(const CorpusPairs&)>& add);

// Throws InputError if no pair was kept.
void check_pairs_left(const CorpusReport& report, const DataOptions& options);

// Calls check_line_counts().
void check_parallel(const TextFile& source, const TextFile& target);

}  // namespace regard
