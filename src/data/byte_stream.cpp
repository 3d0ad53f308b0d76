#include "data/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/sha256.h"
#include "base/strings.h"

namespace regard {
namespace {

constexpr std::size_t inflate_buffer_size = 1 << 16;
constexpr int gzip_window_bits = 16 + MAX_WBITS;  // 16: zlib's sign for the format of gzip
constexpr unsigned char gzip_magic[] = {0x1f, 0x8b};
constexpr auto* not_gzip_tail = "is followed by other bytes";

int open_for_reading(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw InputError("{}: cannot be read ({})", path, std::strerror(errno));
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    throw InputError("{}: found a folder, expected a text file", path);
  }
  return descriptor;
}

}  // namespace

std::string input_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

ByteStream::ByteStream(const std::string& path, bool may_grow)
    : name_(input_name(path)),
      descriptor_(path == "-" ? STDIN_FILENO : open_for_reading(path)),
      owned_(path != "-"),
      may_grow_(may_grow || !owned_),
      opened_(state()),
      buffer_(inflate_buffer_size) {}

ByteStream::ByteStream(int descriptor, std::string name)
    : name_(std::move(name)),
      descriptor_(descriptor),
      owned_(false),
      may_grow_(true),
      opened_(state()),
      buffer_(inflate_buffer_size) {}

ByteStream::~ByteStream() {
  if (inflater_) inflateEnd(inflater_.get());
  if (owned_) ::close(descriptor_);
}

std::size_t ByteStream::read(char* to, std::size_t size) {
  if (!started_) detect_format();
  if (inflater_) return decompress(to, size);
  if (begin_ == end_ && !refill()) return 0;
  const std::size_t count = std::min(size, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, count);
  begin_ += count;
  return count;
}

ByteStream::State ByteStream::state() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {status.st_size,
          status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec};
}

void ByteStream::check_state() const {
  const State now = state();
  if (now == opened_ || (may_grow_ && now.size >= opened_.size)) return;
  throw InputError(
      "{}: changed while it was read ({} at the start, {} at the end); try again when no program "
      "writes to it",
      name_, counted(opened_.size, "byte"), now.size);
}

void ByteStream::detect_format() {
  started_ = true;
  while (end_ < sizeof gzip_magic &&
         std::equal(buffer_.data(), buffer_.data() + end_, gzip_magic)) {
    if (!refill()) break;
  }
  if (end_ >= sizeof gzip_magic &&
      std::equal(std::begin(gzip_magic), std::end(gzip_magic), buffer_.data())) {
    inflater_ = std::make_unique<z_stream_s>();
    if (inflateInit2(inflater_.get(), gzip_window_bits) != Z_OK) throw std::bad_alloc();
    inside_member_ = true;
  } else if (owned_ && name_.ends_with(".gz")) {
    throw InputError(
        "{}: its name ends in .gz, but its bytes are not gzip data; if it is plain text, remove "
        ".gz from its name",
        name_);
  }
}

bool ByteStream::refill() {
  if (begin_ == end_) begin_ = end_ = 0;
  ssize_t count = 0;
  do {
    count = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
  } while (count < 0 && errno == EINTR);
  if (count < 0) throw InputError("{}: reading failed ({})", name_, std::strerror(errno));
  if (count == 0) check_state();
  if (hash_ != nullptr) {
    hash_->update(
        {reinterpret_cast<const char*>(buffer_.data()) + end_, static_cast<std::size_t>(count)});
  }
  end_ += static_cast<std::size_t>(count);
  return count > 0;
}

std::size_t ByteStream::decompress(char* to, std::size_t size) {
  z_stream& z = *inflater_;
  z.next_out = reinterpret_cast<unsigned char*>(to);
  z.avail_out = static_cast<unsigned>(std::min<std::size_t>(size, inflate_buffer_size));
  const unsigned room = z.avail_out;
  while (z.avail_out == room) {
    if (begin_ == end_ && !refill()) {
      if (inside_member_) {
        throw_gzip_error(after_member_ && z.total_in < 2 ? not_gzip_tail : "is cut short");
      }
      return 0;
    }
    if (!inside_member_) {
      if (skip_padding()) continue;
      inflateReset(&z);
      inside_member_ = true;
    }
    z.next_in = buffer_.data() + begin_;
    z.avail_in = static_cast<unsigned>(end_ - begin_);
    const int result = inflate(&z, Z_NO_FLUSH);
    begin_ = end_ - z.avail_in;
    if (result == Z_STREAM_END) {
      inside_member_ = false;
      after_member_ = true;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw_gzip_error(after_member_ && z.total_in <= 2
                           ? not_gzip_tail
                           : fmt::format("is broken ({})", z.msg ? z.msg : "no reason"));
    }
  }
  return room - z.avail_out;
}

void ByteStream::throw_gzip_error(const std::string& what) const {
  throw InputError("{}: the gzip data {}; copy or fetch the file again", name_, what);
}

// Skips zeros between members. Returns true if the buffer has no other bytes.
bool ByteStream::skip_padding() {
  while (begin_ < end_ && buffer_[begin_] == 0) ++begin_;
  return begin_ == end_;
}

namespace {

constexpr int memory_level = 8;  // zlib's default

}  // namespace

GzipCompressor::GzipCompressor() : stream_(new z_stream_s{}), buffer_(inflate_buffer_size) {
  if (deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window_bits, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

GzipCompressor::~GzipCompressor() {
  deflateEnd(stream_.get());
}

std::string GzipCompressor::compress(std::string_view bytes) {
  std::string compressed;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), inflate_buffer_size))) {
    compressed += deflate(bytes.substr(0, inflate_buffer_size), Z_NO_FLUSH);
  }
  return compressed;
}

std::string GzipCompressor::finish() {
  return deflate({}, Z_FINISH);
}

std::string GzipCompressor::deflate(std::string_view bytes, int flush) {
  z_stream& z = *stream_;
  z.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<unsigned>(bytes.size());
  std::string compressed;
  do {
    z.next_out = reinterpret_cast<unsigned char*>(buffer_.data());
    z.avail_out = inflate_buffer_size;
    ::deflate(&z, flush);
    compressed.append(buffer_.data(), inflate_buffer_size - z.avail_out);
  } while (z.avail_out == 0);
  return compressed;
}

}  // namespace regard
