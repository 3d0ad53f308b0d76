#include "data/line_reader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "data/feature_file.h"
#include "data/text_path.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::size_t line_buffer_size = 1 << 16;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_utf16(std::string_view start) {
  return start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF");
}

// Latin letters in UTF-16 without a byte order mark are valid UTF-8 in which every other byte is
// NUL.
bool is_utf16_unmarked(std::string_view start) {
  return start.size() > 1 &&
         5 * static_cast<std::size_t>(std::ranges::count(start, '\0')) >= 2 * start.size();
}

}  // namespace

void warn_of_missing_column(const std::string& path) {
  if (split_text_path(path).column || !is_named_as_records(path)) return;
  log::warning("{}: read line by line; name a column as {}#COLUMN", path, path);
}

void check_rereadable(const std::string& path) {
  std::error_code ignored;
  const auto file = file_of_text(path);
  const bool is_there = path == "-" || std::filesystem::exists(file, ignored);
  if (is_there && !std::filesystem::is_directory(file, ignored) && !is_file(file)) {
    throw InputError(
        "{}: not a regular file, but training reads it several times; copy its text to a regular "
        "file",
        path);
  }
}

std::string_view text_of_line(std::string_view bytes, std::int64_t number,
                              const std::string& name) {
  if (bytes.size() > max_line_bytes) {
    throw InputError("{}:{}: found a line of more than {} bytes, expected one sentence per line",
                     name, number, max_line_bytes);
  }
  auto line = bytes;
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t at = first_invalid_utf8(line);
  if (at != std::string_view::npos) {
    throw InputError("{}:{}: byte {} of the line (0x{:02X}) is not UTF-8; {}", name, number, at + 1,
                     static_cast<unsigned char>(line[at]),
                     number == 1 && is_utf16(line)
                         ? "the file is UTF-16; convert it with `iconv -f UTF-16 -t UTF-8`"
                         : "convert the file, for example with iconv");
  }
  if (number > 1) return line;
  if (is_utf16_unmarked(line)) {
    throw InputError(
        "{}:1: found many NUL bytes, so the file is UTF-16 or not text; convert UTF-16 with `iconv "
        "-f UTF-16{} -t UTF-8`",
        name, line.front() == '\0' ? "BE" : "LE");
  }
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  return line;
}

LineReader::LineReader(const std::string& path, SourceKind source) : bytes_(path) {
  if (source == SourceKind::features && is_feature_file(path)) items_ = FeatureFile(path).size();
}

bool LineReader::next(std::string& line) {
  if (!read(line, /*skips_excess=*/false)) return false;
  if (items_ >= 0) return true;
  const auto text = text_of_line(line, line_number_, name());
  const auto mark = static_cast<std::size_t>(text.data() - line.data());
  if (line_number_ == 1) had_byte_order_mark_ = mark > 0;
  line_end_.insert(0, line, mark + text.size());
  line.resize(mark + text.size());
  line.erase(0, mark);
  return true;
}

bool LineReader::next_raw(std::string& line) {
  return read(line, /*skips_excess=*/true);
}

// Reads as next_raw() does. Without `skips_excess`, stops where a line is longer than
// max_line_bytes, which may have no end.
bool LineReader::read(std::string& line, bool skips_excess) {
  if (items_ >= 0) return read_item(line);
  line.clear();
  line_end_.clear();
  buffer_.resize(line_buffer_size);
  bool any = false;
  while (skips_excess || line.size() <= max_line_bytes) {
    if (begin_ == end_) {
      refill();
      if (end_ == 0) break;
    }
    any = true;
    const char* from = buffer_.data() + begin_;
    const auto* feed = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_));
    const std::size_t count =
        feed != nullptr ? static_cast<std::size_t>(feed - from) : end_ - begin_;
    line.append(from, std::min(count, max_line_bytes + 1 - line.size()));
    begin_ += count;
    if (feed != nullptr) {
      ++begin_;
      line_end_ = "\n";
      break;
    }
  }
  if (any) ++line_number_;
  return any;
}

bool LineReader::read_item(std::string& line) {
  if (line_number_ < items_) {
    line = item_name(name(), ++line_number_);
    return true;
  }
  if (!hashes_) return false;  // otherwise the rest of the file is read for its hash
  buffer_.resize(line_buffer_size);
  do {
    refill();
  } while (end_ > 0);
  return false;
}

void LineReader::refill() {
  begin_ = 0;
  try {
    end_ = bytes_.read(buffer_.data(), buffer_.size());
  } catch (const InputError& error) {
    if (line_number_ == 0 || bytes_.is_column()) throw;  // a record has a line of its own
    throw InputError("{} (after line {})", error.what(), line_number_);
  }
}

std::vector<std::string> read_lines(const std::string& path, SourceKind source) {
  LineReader reader(path, source);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

std::int64_t count_lines(const std::string& path, SourceKind source) {
  check_rereadable(path);
  LineReader reader(path, source);
  for (std::string line; reader.next_raw(line);) continue;
  return reader.line_number();
}

}  // namespace regard
