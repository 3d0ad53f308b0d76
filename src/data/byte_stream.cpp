#include "data/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <zlib.h>

#include <algorithm>
#include <array>
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
constexpr auto* other_tail = "is followed by other bytes";

struct Compression {
  std::string_view name;
  std::string_view ending;
  std::string_view magic;  // ? stands for any byte
};

using namespace std::string_view_literals;
constexpr std::array<Compression, 5> compressions = {{
    {"gzip", ".gz", "\x1F\x8B"},
    {"xz", ".xz", "\xFD\x37zXZ\0"sv},
    {"bzip2", ".bz2", "BZh?1AY&SY"},
    {"bzip2", ".bz2", "BZh?\x17rE8P\x90"},  // of no text
    {"zstd", ".zst", "\x28\xB5\x2F\xFD"},
}};

// True if `start` begins with the magic bytes, or could if it had more bytes.
bool may_be(const Compression& compression, std::string_view start) {
  const auto magic = compression.magic.substr(0, start.size());
  return std::ranges::equal(magic, start.substr(0, magic.size()),
                            [](char a, char b) { return a == '?' || a == b; });
}

const Compression* find_by_ending(std::string_view path) {
  const auto* found = std::ranges::find_if(
      compressions, [&](const auto& each) { return path.ends_with(each.ending); });
  return found == compressions.end() ? nullptr : found;
}

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

std::string without_compression_ending(const std::string& path) {
  const auto* compression = find_by_ending(path);
  return compression == nullptr ? path : path.substr(0, path.size() - compression->ending.size());
}

ByteStream::ByteStream(const std::string& path)
    : name_(input_name(path)),
      descriptor_(path == "-" ? STDIN_FILENO : open_for_reading(path)),
      owned_(path != "-"),
      opened_(state()),
      buffer_(inflate_buffer_size) {}

ByteStream::~ByteStream() {
  if (inflater_) inflateEnd(inflater_.get());
  if (archive_ != nullptr) archive_read_free(archive_);
  if (owned_) ::close(descriptor_);
}

std::size_t ByteStream::read(char* to, std::size_t size) {
  if (!started_) detect_format();
  if (inflater_) return inflate_gzip(to, size);
  if (archive_ != nullptr) return read_archive(to, size);
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
  if (now == opened_) return;
  throw InputError(
      "{}: changed while it was read ({} at the start, {} at the end); try again when no program "
      "writes to it",
      name_, counted(opened_.size, "byte"), now.size);
}

void ByteStream::detect_format() {
  started_ = true;
  const auto start = [&] {
    return std::string_view(reinterpret_cast<const char*>(buffer_.data()), end_);
  };
  const auto* found = compressions.end();
  do {
    found =
        std::ranges::find_if(compressions, [&](const auto& each) { return may_be(each, start()); });
  } while (found != compressions.end() && end_ < found->magic.size() && refill());
  if (found == compressions.end() || end_ < found->magic.size()) {
    const auto* named = owned_ ? find_by_ending(name_) : nullptr;
    if (named == nullptr) return;
    throw InputError(
        "{}: its name ends in {}, but its bytes are not {} data; if it is plain text, remove "
        "{} from its name",
        name_, named->ending, named->name, named->ending);
  }
  compression_ = found->name;
  if (compression_ != "gzip") return open_archive();
  inflater_ = std::make_unique<z_stream_s>();
  if (inflateInit2(inflater_.get(), gzip_window_bits) != Z_OK) throw std::bad_alloc();
  inside_member_ = true;
}

bool ByteStream::refill() {
  if (begin_ == end_) begin_ = end_ = 0;
  ssize_t count = 0;
  do {
    count = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
  } while (count < 0 && errno == EINTR);
  if (count < 0) throw InputError("{}: reading failed ({})", name_, std::strerror(errno));
  if (hash_ != nullptr) {
    if (count == 0) check_state();
    hash_->update(
        {reinterpret_cast<const char*>(buffer_.data()) + end_, static_cast<std::size_t>(count)});
  }
  end_ += static_cast<std::size_t>(count);
  return count > 0;
}

std::size_t ByteStream::inflate_gzip(char* to, std::size_t size) {
  z_stream& z = *inflater_;
  z.next_out = reinterpret_cast<unsigned char*>(to);
  z.avail_out = static_cast<unsigned>(std::min<std::size_t>(size, inflate_buffer_size));
  const unsigned room = z.avail_out;
  while (z.avail_out == room) {
    if (begin_ == end_ && !refill()) {
      if (inside_member_) {
        throw_compression_error(after_member_ && z.total_in < 2 ? other_tail : "is cut short");
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
      throw_compression_error(after_member_ && z.total_in <= 2
                                  ? other_tail
                                  : fmt::format("is broken ({})", z.msg ? z.msg : "no reason"));
    }
  }
  return room - z.avail_out;
}

void ByteStream::throw_compression_error(const std::string& what) const {
  throw InputError("{}: the {} data {}; copy or fetch the file again", name_, compression_, what);
}

// Skips zeros between members. Returns true if the buffer has no other bytes.
bool ByteStream::skip_padding() {
  while (begin_ < end_ && buffer_[begin_] == 0) ++begin_;
  return begin_ == end_;
}

// Gives libarchive the next bytes of the file.
std::ptrdiff_t ByteStream::next_block(archive* archive, void* self, const void** block) {
  auto& stream = *static_cast<ByteStream*>(self);
  try {
    if (stream.begin_ == stream.end_ && !stream.refill()) {
      stream.at_end_ = true;
      return 0;
    }
  } catch (...) {
    stream.read_error_ = std::current_exception();
    archive_set_error(archive, EIO, "reading failed");
    return -1;
  }
  *block = stream.buffer_.data() + stream.begin_;
  const auto count = stream.end_ - std::exchange(stream.begin_, stream.end_);
  stream.archive_bytes_ += count;
  return static_cast<std::ptrdiff_t>(count);
}

void ByteStream::open_archive() {
  archive_ = archive_read_new();
  if (archive_ == nullptr) throw std::bad_alloc();
  archive_read_support_filter_bzip2(archive_);
  archive_read_support_filter_xz(archive_);
  archive_read_support_filter_zstd(archive_);
  archive_read_support_format_empty(archive_);
  archive_read_support_format_raw(archive_);
  archive_entry* entry = nullptr;
  auto result = archive_read_open(archive_, this, nullptr, &next_block, nullptr);
  if (result == ARCHIVE_OK) result = archive_read_next_header(archive_, &entry);
  if (result < ARCHIVE_OK) throw_archive_error();
  is_empty_archive_ = result == ARCHIVE_EOF;
}

std::size_t ByteStream::read_archive(char* to, std::size_t size) {
  const auto count = is_empty_archive_ ? 0 : archive_read_data(archive_, to, size);
  if (count < 0 || archive_errno(archive_) != 0) throw_archive_error();
  if (count > 0) return static_cast<std::size_t>(count);
  const bool is_whole =
      begin_ == end_ && !refill() &&
      archive_filter_bytes(archive_, -1) == static_cast<std::int64_t>(archive_bytes_);
  if (!is_whole) throw_compression_error(other_tail);
  return 0;
}

void ByteStream::throw_archive_error() const {
  if (read_error_) std::rethrow_exception(read_error_);
  const char* reason = archive_error_string(archive_);
  throw_compression_error(at_end_ ? "is cut short"
                                  : fmt::format("is broken ({})", reason ? reason : "no reason"));
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
