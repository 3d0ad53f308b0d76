#include "config/origins.h"

namespace regard {

void Origins::forget_below(const std::string& key) {
  std::erase_if(places_, [&](const auto& entry) { return entry.first.starts_with(key + "."); });
}

std::string Origins::of(std::string key) const {
  while (true) {
    const auto found = places_.find(key);
    if (found != places_.end()) return found->second;
    const auto dot = key.rfind('.');
    if (dot == std::string::npos) return name_;
    key.erase(dot);
  }
}

}  // namespace regard
