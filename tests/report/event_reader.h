// Reads event files for tests, by TensorFlow's event.proto.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "report/event_file.h"

namespace regard {

struct ReadEvent {
  double wall_time = 0;
  std::int64_t step = 0;
  std::string version;
  bool restart = false;
  std::map<std::string, float> scalars;
};

// Reads values from the front of bytes. Throws std::out_of_range if they end too soon.
class ProtocolBuffer {
 public:
  explicit ProtocolBuffer(std::string_view bytes) : rest_(bytes) {}
  bool ended() const { return rest_.empty(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.at(0));
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw std::out_of_range("ends too soon");
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <typename Value>
  Value fixed() {
    Value value;
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    return value;
  }

 private:
  std::string_view rest_;
};

inline ReadEvent read_event(std::string_view bytes) {
  ReadEvent event;
  for (ProtocolBuffer fields(bytes); !fields.ended();) {
    switch (fields.varint()) {
      case 1 << 3 | 1:
        event.wall_time = fields.fixed<double>();
        break;
      case 2 << 3 | 0:
        event.step = static_cast<std::int64_t>(fields.varint());
        break;
      case 3 << 3 | 2:
        event.version = fields.take(fields.varint());
        break;
      case 5 << 3 | 2:
        for (ProtocolBuffer summary(fields.take(fields.varint())); !summary.ended();) {
          if (summary.varint() != (1 << 3 | 2)) throw std::runtime_error("unknown part");
          ProtocolBuffer value(summary.take(summary.varint()));
          if (value.varint() != (1 << 3 | 2)) throw std::runtime_error("no tag");
          const std::string tag(value.take(value.varint()));
          if (value.varint() != (2 << 3 | 5)) throw std::runtime_error("no simple_value");
          event.scalars[tag] = value.fixed<float>();
        }
        break;
      case 7 << 3 | 2:
        event.restart = fields.take(fields.varint()) == std::string_view("\x08\x01");
        break;
      default:
        throw std::runtime_error("unknown field");
    }
  }
  return event;
}

// Throws if a record is incomplete or a checksum is wrong.
inline std::vector<ReadEvent> read_events(std::string_view file) {
  std::vector<ReadEvent> events;
  while (!file.empty()) {
    ProtocolBuffer record(file);
    const auto length = record.fixed<std::uint64_t>();
    record.take(4);
    const auto data = record.take(length);
    record.take(4);
    const auto size = 16 + length;
    if (file.substr(0, size) != tf_record(data)) throw std::runtime_error("wrong checksum");
    events.push_back(read_event(data));
    file.remove_prefix(size);
  }
  return events;
}

}  // namespace regard
