// Reads the bytes of a file or a pipe, decompressing gzip, bzip2, xz and zstd, and compresses bytes
// as gzip (RFC 1952). Reading plain text or gzip never waits if some bytes are available.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct archive;
struct z_stream_s;

namespace regard {

class Sha256;

// Returns the name of an input for messages: the path, or "standard input" for "-".
std::string input_name(const std::string& path);

// Returns a path without the ending of a compression: train.en for train.en.gz.
std::string without_compression_ending(const std::string& path);

// Decompresses any input that starts with the magic bytes of a compression, whatever its name.
// Concatenated members form one text; zeros after a member of gzip (a tape's padding) are skipped.
// All errors are InputErrors whose message begins with the name: the file does not exist, is a
// folder, is not readable, has the ending of a compression without being compressed, or has invalid
// or truncated compressed data.
class ByteStream {
 public:
  // Opens a file; "-" is standard input.
  explicit ByteStream(const std::string& path);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Adds the bytes of the file as stored, before decompression, to `hash`, which must outlive this.
  // Call it before the first read(). The hash is complete when read() has returned 0. With a
  // hash, read() throws at the end of a regular file whose size or modification time has changed.
  void hash_into(Sha256& hash) { hash_ = &hash; }
  // Stores up to `size` bytes in `to` and returns their number; 0 means the end. Waits only if no
  // byte is available.
  std::size_t read(char* to, std::size_t size);
  const std::string& name() const { return name_; }

 private:
  struct State {
    std::int64_t size = -1;  // bytes; -1 if not a regular file
    std::int64_t time = 0;   // of the last modification, ns
    auto operator<=>(const State&) const = default;
  };

  State state() const;
  void detect_format();
  bool refill();  // appends bytes of the file to the buffer; false at the end of the file
  void check_state() const;
  [[noreturn]] void throw_compression_error(const std::string& what) const;
  bool skip_padding();
  std::size_t inflate_gzip(char* to, std::size_t size);
  void open_archive();
  [[noreturn]] void throw_archive_error() const;
  std::size_t read_archive(char* to, std::size_t size);
  static std::ptrdiff_t next_block(archive* archive, void* self, const void** block);

  std::string name_;
  int descriptor_;
  bool owned_;
  State opened_;
  std::vector<unsigned char> buffer_;  // unread bytes of the file: [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::string_view compression_ = {};     // its name, such as "gzip"; "" for plain text
  std::unique_ptr<z_stream_s> inflater_;  // null if the input is not gzip
  archive* archive_ = nullptr;            // of libarchive, for the other compressions
  std::exception_ptr read_error_;         // of the file, in a call from libarchive
  std::size_t archive_bytes_ = 0;         // given to libarchive
  bool at_end_ = false;                   // libarchive has the whole file
  bool is_empty_archive_ = false;         // of no text
  bool started_ = false;
  bool inside_member_ = false;
  bool after_member_ = false;
  Sha256* hash_ = nullptr;
};

// Compresses bytes as one gzip member.
class GzipCompressor {
 public:
  GzipCompressor();
  ~GzipCompressor();
  GzipCompressor(const GzipCompressor&) = delete;
  GzipCompressor& operator=(const GzipCompressor&) = delete;

  // Returns the compressed bytes that are ready, possibly none.
  std::string compress(std::string_view bytes);
  // Returns the remaining compressed bytes. No call may follow.
  std::string finish();

 private:
  std::string deflate(std::string_view bytes, int flush);

  std::unique_ptr<z_stream_s> stream_;
  std::vector<char> buffer_;  // compressed bytes
};

}  // namespace regard
