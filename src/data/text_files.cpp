#include "data/text_files.h"

#include <mutex>
#include <utility>

#include "base/error.h"

namespace regard {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;

const std::string& rereadable(const std::string& path) {
  check_rereadable(path);
  return path;
}

}  // namespace

std::string_view LineBlock::line(std::size_t i, const std::string& name) const {
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return text_of_line(std::string_view(text_).substr(begin, ends_[i] - begin), number(i), name);
}

LineBlockReader::LineBlockReader(const std::string& path, SourceKind source)
    : lines_(rereadable(path), source) {
  lines_.hash_into(hash_);
}

std::shared_ptr<const LineBlock> LineBlockReader::next() {
  auto block = std::make_shared<LineBlock>();
  block->first_number_ = lines_.line_number() + 1;
  while (block->bytes() < block_bytes && lines_.next_raw(line_)) {
    block->text_ += line_;
    block->ends_.push_back(static_cast<std::uint32_t>(block->text_.size()));
  }
  if (block->size() == 0) return nullptr;
  block->text_.shrink_to_fit();
  block->ends_.shrink_to_fit();
  return block;
}

TextDigest digest_of(const std::string& path) {
  LineBlockReader reader(path);
  while (reader.next()) continue;
  return reader.digest();
}

TextFile::TextFile(std::string path, std::atomic<std::int64_t>& memory, SourceKind source)
    : path_(std::move(path)), source_(source) {
  LineBlockReader reader(path_, source_);
  while (auto block = reader.next()) {
    if (!is_kept_) continue;
    const auto bytes = static_cast<std::int64_t>(block->bytes());
    is_kept_ = memory.fetch_sub(bytes) >= bytes;
    blocks_.push_back(std::move(block));
    if (is_kept_) continue;
    for (const auto& kept : blocks_) memory += static_cast<std::int64_t>(kept->bytes());
    blocks_ = {};
  }
  digest_ = reader.digest();
}

std::shared_ptr<const LineBlock> TextFile::Reader::next() {
  if (file_.is_kept_) return next_ < file_.blocks_.size() ? file_.blocks_[next_++] : nullptr;
  if (!again_) again_ = std::make_unique<LineBlockReader>(file_.path_, file_.source_);
  auto block = again_->next();
  if (block) return block;
  if (again_->digest().sha256 != file_.digest_.sha256) {
    throw InputError("{}: changed while it was read; try again when no program writes to it",
                     file_.path_);
  }
  return nullptr;
}

TextFiles::TextFiles(const std::vector<std::string>& paths, ThreadPool& pool, std::int64_t memory,
                     SourceKind source) {
  std::vector<std::pair<const std::string, Result>*> files;
  for (const auto& path : paths) {
    const auto [entry, is_new] = results_.try_emplace(path);
    if (is_new) files.push_back(&*entry);
  }
  std::atomic<std::int64_t> memory_left = memory;
  parallel_for(pool, files.size(), [&](std::size_t i) {
    auto& [path, result] = *files[i];
    try {
      result.file = std::make_unique<TextFile>(path, memory_left, source);
    } catch (...) {
      result.error = std::current_exception();
    }
  });
}

const TextFile& TextFiles::at(const std::string& path) const {
  const auto& result = results_.at(path);
  if (result.error) std::rethrow_exception(result.error);
  return *result.file;
}

void for_each_block(
    ThreadPool& pool, std::span<const TextFile* const> files,
    const std::function<void(std::size_t, const LineBlock&, const std::string&)>& job) {
  std::mutex mutex;
  std::size_t file = 0;      // the next block is of this file
  std::size_t position = 0;  // of the next block
  std::unique_ptr<TextFile::Reader> reader;
  std::exception_ptr error;
  std::size_t error_position = 0;
  const auto record_error = [&](std::size_t at) {  // with the mutex held
    if (error && error_position < at) return;
    error = std::current_exception();
    error_position = at;
  };
  pool.run([&](std::size_t thread) {
    for (;;) {
      std::shared_ptr<const LineBlock> block;
      std::size_t at = 0;
      const std::string* name = nullptr;
      {
        const std::lock_guard lock(mutex);
        at = position++;
        while (!block) {
          if (error || file == files.size()) return;
          try {
            if (!reader) reader = std::make_unique<TextFile::Reader>(*files[file]);
            block = reader->next();
          } catch (...) {
            record_error(at);
            return;
          }
          name = &files[file]->path();
          if (!block) {
            reader.reset();
            ++file;
          }
        }
      }
      try {
        job(thread, *block, *name);
      } catch (...) {
        const std::lock_guard lock(mutex);
        record_error(at);
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace regard
