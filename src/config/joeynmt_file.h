// What a configuration of JoeyNMT's says, each value asked for once: what nobody asks for is left
// over. Private to config/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

class JoeyFile {
 public:
  // ConfigError as of convert_joeynmt().
  JoeyFile(std::string_view text, std::string name);

  // The value of a full key, "model.encoder.type"; of a list, its entries with ", " between.
  // Nothing where the key is not there, or null.
  std::optional<std::string> take(const std::string& key);
  std::string take(const std::string& key, const std::string& otherwise);
  std::string take_lower(const std::string& key, const std::string& otherwise);
  // Python's and YAML's true.
  bool take_flag(const std::string& key, bool otherwise);
  double take_number(const std::string& key, double otherwise);

  // Says something of a key that was there.
  void note(const std::string& key, const std::string& what);
  // Why a value has no place, if that is worth a note, and the value that needs none.
  struct Left {
    std::string why;
    std::string neutral = {};
  };
  // A note for each value that nobody took, by the last of the reasons that begins its key.
  void note_left(const std::map<std::string, Left>& reasons);
  // In the order of the file's lines.
  std::vector<std::string> notes() const;

 private:
  struct Value {
    std::string text;
    int line = 0;
    bool is_null = false;
    bool taken = false;
  };
  std::string shown(const std::string& key) const;

  std::string name_;
  std::map<std::string, Value> values_;
  std::vector<std::pair<int, std::string>> notes_;
};

}  // namespace regard
