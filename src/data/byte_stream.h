// The bytes of a file, as they are or unpacked from gzip, without waiting for more than are there.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct z_stream_s;

namespace regard {

class Sha256;

// What messages call an input: the path, and - "standard input".
std::string input_name(const std::string& path);

// What starts with gzip's magic bytes is unpacked, whatever its name; several members in a row are
// one text, and zeros behind the last (a tape's padding) are none. All errors are InputErrors that
// begin with the name: no such file, a folder, not readable, a name in .gz with other bytes, packed
// data that is broken or cut short, a file that has changed when its end is reached.
class ByteStream {
 public:
  // - is standard input. Where the file `may_grow`, only one that has become shorter is an error.
  explicit ByteStream(const std::string& path, bool may_grow = false);
  // An open descriptor, which is left open at the end.
  ByteStream(int descriptor, std::string name);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Adds the bytes of the file, as they lie on the disk, to `hash` from now on: before the first
  // read(). All are added when read() has returned 0. `hash` must outlive this.
  void hash_into(Sha256& hash) { hash_ = &hash; }
  // Up to `size` bytes into `to`; waits only while there is none at all. 0 is the end.
  std::size_t read(char* to, std::size_t size);
  const std::string& name() const { return name_; }
  // Whether a regular file is another now than when it was opened, by its size and its time.
  bool changed() const { return state() != opened_; }

 private:
  struct State {
    std::int64_t size = -1;  // of a regular file
    std::int64_t time = 0;   // of its last change, ns
    auto operator<=>(const State&) const = default;
  };

  State state() const;
  void detect_format();
  bool refill();  // reads behind what is left; false at the end of the file
  void check_state() const;
  [[noreturn]] void fail_unpacking(const std::string& what) const;
  bool at_padding();
  std::size_t unpack(char* to, std::size_t size);

  std::string name_;
  int descriptor_;
  bool owned_;
  bool may_grow_;
  State opened_;
  std::vector<unsigned char> packed_;  // bytes of the file not handed out yet: [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::unique_ptr<z_stream_s> inflater_;  // when it is gzip
  bool started_ = false;
  bool inside_member_ = false;
  bool after_member_ = false;
  Sha256* hash_ = nullptr;
};

}  // namespace regard
