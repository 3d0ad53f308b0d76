// The bytes of a file, as they are or unpacked from gzip, without waiting for more than are there.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct z_stream_s;

namespace regard {

// What starts with gzip's magic bytes is unpacked, whatever its name; several members in a row are
// one text. All errors are InputErrors that begin with the name: no such file, a folder, not
// readable, a name in .gz with other bytes, packed data that is broken or cut short.
class ByteStream {
 public:
  explicit ByteStream(const std::string& path);
  // An open descriptor such as standard input, which is left open at the end.
  ByteStream(int descriptor, std::string name);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Up to `size` bytes into `to`; waits only while there is none at all. 0 is the end.
  std::size_t read(char* to, std::size_t size);
  const std::string& name() const { return name_; }

 private:
  void detect_format();
  bool refill();  // reads behind what is left; false at the end of the file
  std::size_t unpack(char* to, std::size_t size);

  std::string name_;
  int descriptor_;
  bool owned_;
  std::vector<unsigned char> packed_;  // bytes of the file not handed out yet: [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::unique_ptr<z_stream_s> inflater_;  // when it is gzip
  bool started_ = false;
  bool inside_member_ = false;
};

}  // namespace regard
