#include "data/duplicate_filter.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace regard {
namespace {

constexpr std::size_t first_slots = 16;
constexpr double max_load = 0.85;
constexpr double growth = 1.35;

// The finaliser of splitmix64, a bijection in which every bit depends on all bits.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t add_text(std::uint64_t hash, std::string_view text) {
  hash = mix(hash ^ text.size());
  while (!text.empty()) {
    std::uint64_t word = 0;
    const auto bytes = std::min(text.size(), sizeof(word));
    std::memcpy(&word, text.data(), bytes);
    hash = mix(hash ^ word);
    text.remove_prefix(bytes);
  }
  return hash;
}

// Returns the slot of the hash, or the free slot where it belongs.
std::uint64_t& slot_of(std::vector<std::uint64_t>& slots, std::uint64_t hash) {
  auto at = static_cast<std::size_t>(((hash >> 32) * slots.size()) >> 32);
  while (slots[at] != 0 && slots[at] != hash) at = at + 1 == slots.size() ? 0 : at + 1;
  return slots[at];
}

}  // namespace

std::uint64_t hash_of_pair(std::string_view source, std::string_view target, std::uint64_t seed) {
  return add_text(add_text(seed, source), target);
}

bool DuplicateFilter::add(std::uint64_t hash) {
  if (hash == 0) hash = 1;
  auto& table = tables_[hash % tables];
  auto& slots = table.slots;
  if (static_cast<double>(table.used + 1) > max_load * static_cast<double>(slots.size())) {
    const auto size = static_cast<std::size_t>(growth * static_cast<double>(slots.size()));
    std::vector<std::uint64_t> larger(std::max(first_slots, size));
    for (const auto old : slots) {
      if (old != 0) slot_of(larger, old) = old;
    }
    slots = std::move(larger);
  }
  auto& slot = slot_of(slots, hash);
  if (slot != 0) return false;
  slot = hash;
  ++table.used;
  return true;
}

}  // namespace regard
