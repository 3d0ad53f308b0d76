#include "training/data_loader.h"

#include <string>
#include <vector>

namespace regard {
namespace {

std::vector<std::string> all_training_paths(const DataOptions& data) {
  std::vector<std::string> paths;
  for (const auto& corpus : data.train) {
    paths.push_back(corpus.src);
    paths.push_back(corpus.trg);
  }
  return paths;
}

}  // namespace

DataLoader::DataLoader(const Options& options, const std::filesystem::path& run_folder,
                       ThreadPool& pool)
    : options_(options), pool_(pool), cache_(run_folder / corpus_cache_name) {
  const auto& data = options.data;
  if (auto known = cache_.digests_of(all_training_paths(data), pool)) {
    digests_ = std::move(*known);  // their numbers of lines were compared when the cache was made
  } else {
    read_training_files();
  }
  if (data.dev.src.empty()) return;
  dev_files_.emplace(std::vector{data.dev.src, data.dev.trg}, pool);
  check_parallel(dev_files_->at(data.dev.src), dev_files_->at(data.dev.trg));
  for (const auto& path : {data.dev.src, data.dev.trg}) {
    digests_[path] = dev_files_->at(path).digest();
  }
}

void DataLoader::read_training_files() {
  files_.emplace(all_training_paths(options_.data), pool_);
  for (const auto& corpus : options_.data.train) {
    check_parallel(files_->at(corpus.src), files_->at(corpus.trg));
    for (const auto& path : {corpus.src, corpus.trg}) digests_[path] = files_->at(path).digest();
  }
}

const TextFiles& DataLoader::training_files() {
  if (!files_) read_training_files();
  return *files_;
}

Tokenizers DataLoader::train_tokenizers() {
  const auto& data = options_.data;
  trained_tokenizers_ = true;
  if (auto cached = cache_.tokenizers(data, options_.model, digests_, pool_)) return *cached;
  return make_tokenizers(data, options_.model, training_files(), pool_, options_.threads);
}

Corpus DataLoader::training(const Options& options, const Tokenizers& tokenizers) {
  auto cached = cache_.corpus(options.data, options.model, tokenizers, digests_, pool_);
  used_cache_ = cached.has_value();
  if (cached) return std::move(*cached);
  return Corpus::training(options.data, tokenizers, training_files(), pool_);
}

Corpus DataLoader::validation(const Options& options, const Tokenizers& tokenizers) {
  return Corpus::validation(options.data, tokenizers, *dev_files_, pool_);
}

}  // namespace regard
