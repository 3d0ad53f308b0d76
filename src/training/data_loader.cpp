#include "training/data_loader.h"

#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace regard {
namespace {

// Throws ConfigError if the configuration describes other tokenizers than those of the prepared
// corpus.
void check_tokenizer_options(const Options& options, const PreparedCorpus& prepared) {
  prepared.check_options(options, /*tokenizer_training=*/true);
  const auto& tokenizer = options.data.tokenizer;
  const auto check = [&](const char* key, const std::string& file, const Tokenizer& used) {
    if (file.empty() || !is_file(file)) return;
    if (load_tokenizer_file(tokenizer, file)->serialized() == used.serialized()) return;
    throw ConfigError(
        "data.tokenizer.{}: {}: not the vocabulary with which data.prepared ({}) was made; run "
        "`regard prepare` again into another folder",
        key, file, prepared.folder().string());
  };
  check("src_file", tokenizer.src_file, *prepared.codec().source);
  check("trg_file", tokenizer.trg_file, *prepared.codec().target);
}

// Throws CheckpointError if the tokenizers, those of a checkpoint or an initial model, did not make
// the pairs of the prepared corpus.
void check_same_tokenizers(const TextCodec& codec, const PreparedCorpus& prepared) {
  const auto& made_by = prepared.codec();
  if (codec.source->serialized() == made_by.source->serialized() &&
      codec.target->serialized() == made_by.target->serialized()) {
    return;
  }
  throw CheckpointError(
      "data.prepared: {} was made by other tokenizers than those of the model; run `regard "
      "prepare` with the tokenizers of the model (data.tokenizer.src_file, trg_file) into another "
      "folder",
      prepared.folder().string());
}

// Throws InputError if a source is not a file of features, or a target is one: its items have names
// but no text.
void check_feature_files(const DataOptions& data) {
  const auto check = [](const std::string& source, const std::string& target) {
    const FeatureFile checked(source);
    if (!is_feature_file(target)) return;
    throw InputError("{}: found a file of features, expected the text of the target", target);
  };
  for (const auto& corpus : data.train) check(corpus.src, corpus.trg);
  if (!data.dev.src.empty()) check(data.dev.src, data.dev.trg);
}

}  // namespace

DataLoader::DataLoader(const Options& options, ThreadPool& pool) : options_(options), pool_(pool) {
  const auto& data = options.data;
  if (data.source == SourceKind::features) check_feature_files(data);
  if (!data.prepared.empty()) {
    prepared_ = std::make_shared<const PreparedCorpus>(data.prepared);
    digests_ = prepared_->text_digests();
    digests_[data.prepared] = prepared_->digest();
  } else {
    files_.emplace(training_paths(data, /*with_unused=*/true), pool, TextFiles::default_memory,
                   data.source);
    for (const auto& corpus : data.train) {
      check_parallel(files_->at(corpus.src), files_->at(corpus.trg));
      for (const auto& path : {corpus.src, corpus.trg}) digests_[path] = files_->at(path).digest();
    }
  }
  if (data.dev.src.empty()) return;
  dev_files_.emplace(std::vector{data.dev.src, data.dev.trg}, pool, TextFiles::default_memory,
                     data.source);
  check_parallel(dev_files_->at(data.dev.src), dev_files_->at(data.dev.trg));
  for (const auto& path : {data.dev.src, data.dev.trg}) {
    digests_[path] = dev_files_->at(path).digest();
  }
}

void DataLoader::complete(DataOptions& data) const {
  if (prepared_ && data.train.empty()) data.train = prepared_->options().data.train;
}

TextCodec DataLoader::make_codec() {
  if (prepared_) {
    check_tokenizer_options(options_, *prepared_);
    return prepared_->codec();
  }
  return make_text_codec(options_.data, options_.model, *files_, pool_, options_.threads);
}

TextCodec DataLoader::extend(const Options& options, const TextCodec& codec) {
  if (prepared_) {
    throw ConfigError(
        "data.tokenizer.extend_by is {}, but data.prepared ({}) has tokens of the vocabulary "
        "before; train from the text, or set extend_by to 0",
        options.data.tokenizer.extend_by, prepared_->folder().string());
  }
  return extend_text_codec(options.data, codec, *files_, options.threads);
}

Corpus DataLoader::training(const Options& options, const TextCodec& codec) {
  if (prepared_) {
    check_same_tokenizers(codec, *prepared_);
    return Corpus::training(options, prepared_);
  }
  return Corpus::training(options.data, codec, *files_, pool_);
}

Corpus DataLoader::validation(const Options& options, const TextCodec& codec) {
  return Corpus::validation(options.data, codec, *dev_files_, pool_);
}

}  // namespace regard
