// Data of other compressions than gzip, made by libarchive.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace regard {

// Returns `bytes` compressed by a filter of libarchive: "xz", "bzip2" or "zstd".
inline std::string compressed(std::string_view bytes, const char* filter) {
  std::string packed(bytes.size() + (std::size_t{1} << 16), '\0');
  std::size_t size = 0;
  auto* archive = archive_write_new();
  auto* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_write_set_bytes_in_last_block(archive, 1);
  const bool is_done =
      archive_write_set_format_raw(archive) == ARCHIVE_OK &&
      archive_write_add_filter_by_name(archive, filter) == ARCHIVE_OK &&
      archive_write_open_memory(archive, packed.data(), packed.size(), &size) == ARCHIVE_OK &&
      archive_write_header(archive, entry) == ARCHIVE_OK &&
      archive_write_data(archive, bytes.data(), bytes.size()) ==
          static_cast<la_ssize_t>(bytes.size()) &&
      archive_write_close(archive) == ARCHIVE_OK;
  archive_entry_free(entry);
  archive_write_free(archive);
  if (!is_done) throw std::runtime_error("libarchive compresses nothing");
  packed.resize(size);
  return packed;
}

}  // namespace regard
