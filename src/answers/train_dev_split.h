// Splits a corpus into a training and a validation part.
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

// Draws `dev_pairs` pairs with a fixed seed and writes both parts, in the order of the corpus, to
// STEM.train.en, STEM.dev.en and so on. The extensions are those of the files, or src and trg if
// they are equal. Drops training pairs whose source is also in the validation part. Throws
// ConfigError if an output file exists or no training pair is left.
SplitFiles split_pairs(const std::string& src, const std::string& trg, std::int64_t dev_pairs,
                       const std::filesystem::path& stem);

}  // namespace regard
