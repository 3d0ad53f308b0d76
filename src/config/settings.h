// The keys that key=value can set, for shells that complete them.
#pragma once

#include <string>
#include <vector>

namespace regard {

struct Setting {
  std::string key;  // "training.optimizer"; of a list's first entry data.train.0.src
  std::string help;
  std::vector<std::string> values;  // of a choice, and true and false; else none
};

std::vector<Setting> all_settings();

}  // namespace regard
