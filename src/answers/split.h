// A corpus in two: what is trained on, and what it is validated on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace regard {

struct SplitFiles {
  std::string train_src;
  std::string train_trg;
  std::string dev_src;
  std::string dev_trg;
};

// Draws `apart` pairs, always the same ones, and writes both parts in their order beside `stem`:
// STEM.train.en, STEM.dev.en, …, with the endings of the files, or src and trg where these do not
// tell them apart; the files themselves stay as they are. A pair whose source is among those set
// apart goes into neither part: it would be validated on what was learnt. ConfigError where a file
// of such a name is there, or no pair would be left to train on.
SplitFiles split_pairs(const std::string& src, const std::string& trg, std::int64_t apart,
                       const std::filesystem::path& stem);

}  // namespace regard
