// The text files of a training. Each file is read once, several at the same time: one pass yields
// its lines, their number and the hash of the file. The lines stay in memory if all files together
// are small. Otherwise they are read again by those who need them, block by block. A file of
// features has the names of its items as lines (data/feature_file.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "base/thread_pool.h"
#include "config/data_options.h"
#include "data/line_reader.h"

namespace regard {

struct TextDigest {
  std::int64_t lines = 0;
  std::string sha256;  // of the file as stored, before decompression, and its digest_suffix()
};

// By the path of the file.
using TextDigests = std::map<std::string, TextDigest>;

// Consecutive lines of a file, not validated yet.
class LineBlock {
 public:
  std::size_t size() const { return ends_.size(); }
  std::size_t bytes() const { return text_.size() + ends_.size() * sizeof(std::uint32_t); }
  // Returns the number in the file of line i of the block; the first line of a file is 1.
  std::int64_t number(std::size_t i) const { return first_number_ + static_cast<std::int64_t>(i); }
  // Returns line i of the block. Throws as text_of_line() does; `name` is the file's name.
  std::string_view line(std::size_t i, const std::string& name) const;

 private:
  friend class LineBlockReader;

  std::string text_;                 // without line feeds
  std::vector<std::uint32_t> ends_;  // of each line in text_
  std::int64_t first_number_ = 1;
};

using LineBlocks = std::vector<std::shared_ptr<const LineBlock>>;

// Reads a file block by block. A block ends with the line that fills 64 kB; of a line above
// max_line_bytes, only the beginning is stored, so that its text_of_line() throws.
class LineBlockReader {
 public:
  // Throws as count_lines() does.
  explicit LineBlockReader(const std::string& path, SourceKind source = SourceKind::text);

  // Returns the next block, or null at the end. Throws the errors of LineReader::next_raw().
  std::shared_ptr<const LineBlock> next();
  // Returns the number of lines and the hash of the file. Call it once, after the end.
  TextDigest digest() { return {lines_.line_number(), hash_.hex_digest()}; }

 private:
  Sha256 hash_;
  LineReader lines_;
  std::string line_;  // the last one read
};

// Reads a file for its digest only. Throws as LineBlockReader does.
TextDigest digest_of(const std::string& path);

class TextFile {
 public:
  // Reads the file. Keeps its lines if their bytes do not exceed `memory`, and subtracts them from
  // it; threads may share it. Throws as LineBlockReader does.
  TextFile(std::string path, std::atomic<std::int64_t>& memory,
           SourceKind source = SourceKind::text);

  const std::string& path() const { return path_; }
  const TextDigest& digest() const { return digest_; }
  // True if the lines are in memory.
  bool is_kept() const { return is_kept_; }

  // Iterates over the blocks of the file, which must outlive it.
  class Reader {
   public:
    explicit Reader(const TextFile& file) : file_(file) {}
    // Returns the next block, or null at the end. Throws InputError if the file, when it is read
    // again, is not the same as before.
    std::shared_ptr<const LineBlock> next();

   private:
    const TextFile& file_;
    std::size_t next_ = 0;
    std::unique_ptr<LineBlockReader> again_;
  };

 private:
  std::string path_;
  SourceKind source_;
  TextDigest digest_;
  bool is_kept_ = true;
  LineBlocks blocks_;  // if kept
};

// Immutable after construction, so threads can share it.
class TextFiles {
 public:
  // Keeps the lines of all files together up to this size: some million pairs.
  static constexpr std::int64_t default_memory = std::int64_t{256} << 20;

  // Reads these files, each path once. An error of a file is thrown by at(). With features as the
  // source, files of features are read as the names of their items.
  TextFiles(const std::vector<std::string>& paths, ThreadPool& pool,
            std::int64_t memory = default_memory, SourceKind source = SourceKind::text);

  // Throws std::out_of_range for a path that was not read.
  const TextFile& at(const std::string& path) const;

 private:
  struct Result {
    std::unique_ptr<TextFile> file;
    std::exception_ptr error;
  };
  std::map<std::string, Result> results_;
};

// Calls job(thread, block, name) for every block of the files, on all threads of the pool. If
// several calls throw, rethrows the exception of the first block in the order of the files.
void for_each_block(
    ThreadPool& pool, std::span<const TextFile* const> files,
    const std::function<void(std::size_t, const LineBlock&, const std::string&)>& job);

}  // namespace regard
