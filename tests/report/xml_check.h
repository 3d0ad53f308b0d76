// A small check that markup is well formed.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace regard {

// Returns "" if tags balance, attributes are quoted and text has no unescaped < or &; otherwise the
// fault. Skips the contents of <style> and <script>, as HTML does.
inline std::string find_xml_fault(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '&') {
      const std::size_t end = text.find(';', i);
      if (end == std::string::npos || end - i > 8) return "stray & at " + text.substr(i, 30);
    }
    if (text[i] != '<') {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "stray < at " + text.substr(end, 30);
    }
    if (end >= text.size()) return "tag without end: " + text.substr(i, 30);
    std::string tag = text.substr(i + 1, end - i - 1);
    i = end + 1;
    if (tag[0] == '!') continue;
    const bool closing = tag[0] == '/';
    const bool empty = tag.back() == '/';
    if (closing) tag.erase(0, 1);
    std::size_t name_end = 0;
    while (name_end < tag.size() && std::isalnum(static_cast<unsigned char>(tag[name_end])))
      ++name_end;
    const std::string name = tag.substr(0, name_end);
    if (name.empty()) return "tag without name: <" + tag + ">";
    if (closing) {
      if (open.empty() || open.back() != name) return "unexpected </" + name + ">";
      open.pop_back();
    } else if (!empty) {
      open.push_back(name);
      if (name == "script" || name == "style") i = std::min(text.find("</" + name, i), text.size());
    }
  }
  return open.empty() ? "" : "not closed: <" + open.back() + ">";
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

}  // namespace regard
