// Reads a configuration of JoeyNMT and tracks which values were read. Private to config/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

class JoeyFile {
 public:
  // Throws ConfigError as convert_joeynmt() does.
  JoeyFile(std::string_view text, std::string name);

  // Returns the value of a full key, such as "model.encoder.type", and marks it as read. Joins the
  // entries of a list by ", ". Returns nullopt if the key is missing or null.
  std::optional<std::string> take(const std::string& key);
  std::string take(const std::string& key, const std::string& fallback);
  std::string take_lower(const std::string& key, const std::string& fallback);
  // Accepts the booleans of Python and YAML.
  bool take_flag(const std::string& key, bool fallback);
  double take_number(const std::string& key, double fallback);

  // Adds a note about a key, if the file has it.
  void note(const std::string& key, const std::string& text);
  struct Unsupported {
    std::string reason;        // empty: no note
    std::string neutral = {};  // the value that needs no note
  };
  // Adds a note for each value that was not read. `unsupported` maps prefixes of keys to reasons;
  // the last matching prefix counts.
  void note_unread(const std::map<std::string, Unsupported>& unsupported);
  // Returns the notes in the order of the file's lines.
  std::vector<std::string> notes() const;

 private:
  struct Value {
    std::string text;
    int line = 0;
    bool is_null = false;
    bool is_read = false;
  };
  std::string location_and_value(const std::string& key) const;

  std::string name_;
  std::map<std::string, Value> values_;
  std::vector<std::pair<int, std::string>> notes_;
};

}  // namespace regard
