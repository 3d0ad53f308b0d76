#include "data/pair_journal.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/version.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

constexpr const char* journal_format = "regard synthetic pairs";
constexpr int format_version = 1;
constexpr std::size_t max_state_bytes = std::size_t{1} << 20;
constexpr std::size_t max_waiting_bytes = std::size_t{16} << 20;
constexpr auto min_save_interval = std::chrono::seconds(1);
constexpr int max_save_share = 20;  // save() takes at most 1 / 20 of the time

// Returns the size of a file in bytes, or -1 if there is none.
std::int64_t size_of(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? -1 : static_cast<std::int64_t>(size);
}

std::string string_of(const Json& value) {
  if (value.is_null()) return "(none)";
  return value.is_string() ? value.get<std::string>() : to_text(value);
}

// Returns the settings that differ: "beam_size: 5 → 10".
std::vector<std::string> differences(const Json& before, const Json& now) {
  std::vector<std::string> texts;
  const auto value = [](const Json& settings, const std::string& key) {
    return settings.contains(key) ? settings.at(key) : Json();
  };
  const auto add = [&](const std::string& key) {
    const auto then = value(before, key);
    const auto here = value(now, key);
    if (then != here)
      texts.push_back(fmt::format("{}: {} → {}", key, string_of(then), string_of(here)));
  };
  for (const auto& [key, ignored] : now.items()) add(key);
  for (const auto& [key, ignored] : before.items()) {
    if (!now.contains(key)) add(key);
  }
  return texts;
}

}  // namespace

PairJournal::PairJournal(fs::path output, Json settings, bool fresh)
    : output_(std::move(output)), settings_(std::move(settings)) {
  source_ = {with_suffix(".src"), with_suffix(".src.part")};
  target_ = {with_suffix(".trg"), with_suffix(".trg.part")};
  const auto lock_path = with_suffix(".lock");
  lock_ = std::make_unique<FileLock>(
      lock_path, fmt::format("{}: another process writes this output (its lock: {}); wait for its "
                             "end, or give another name with -o",
                             output_.string(), lock_path.string()));
  const auto state = read_state();
  check_nothing_to_lose(!state.is_null(), fresh);
  if (!state.is_null() && !fresh) {
    check_settings(state);
    is_complete_ = state.at("complete");
    progress_ = {state.at("lines"), state.at("pairs"), state.at("source_bytes"),
                 state.at("target_bytes"), state.at("counts")};
  }
  if (is_complete_) {  // the last process may have been killed before or between the renames
    rename_complete_file(source_, progress_.source_bytes);
    rename_complete_file(target_, progress_.target_bytes);
    return;
  }
  if (state.is_null() || fresh) write_state();
  open(source_, progress_.source_bytes);
  open(target_, progress_.target_bytes);
  last_save_ = std::chrono::steady_clock::now();
}

PairJournal::~PairJournal() {
  for (const auto* file : {&source_, &target_}) {
    if (file->descriptor >= 0) ::close(file->descriptor);
  }
}

fs::path PairJournal::with_suffix(const char* suffix) const {
  return output_.string() + suffix;
}

// Returns null if there is no state.
Json PairJournal::read_state() const {
  const auto path = with_suffix(".json");
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored))) return {};
  auto state = parse_json(read_file<ConfigError>(path, "record of an output", max_state_bytes));
  try {
    if (state.is_object() && state.value("format", "") == journal_format &&
        state.at("version") == format_version && state.at("complete").is_boolean() &&
        state.at("lines").is_number_unsigned() && state.at("pairs").is_number_unsigned() &&
        state.at("source_bytes").is_number_unsigned() &&
        state.at("target_bytes").is_number_unsigned() && state.at("settings").is_object() &&
        state.at("counts").is_object()) {
      return state;
    }
  } catch (const Json::exception&) {
  }
  throw ConfigError(
      "{}: not written by this version of `regard synthesize`, and would be overwritten; give "
      "another name with -o, or remove it",
      path.string());
}

void PairJournal::check_settings(const Json& state) const {
  const auto texts = differences(state.at("settings"), settings_);
  if (texts.empty()) return;
  throw ConfigError(
      "{}: {} with other settings:\n  {}\nRepeat the former command, give another name with -o, or "
      "start over with --fresh",
      with_suffix(".json").string(), state.at("complete") ? "was finished" : "was begun",
      fmt::join(texts, "\n  "));
}

// Throws ConfigError if a file that this class did not write would be replaced without `fresh`.
void PairJournal::check_nothing_to_lose(bool has_state, bool fresh) const {
  if (has_state || fresh) return;
  for (const auto* file : {&source_, &target_}) {
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(file->path, ignored))) continue;
    throw ConfigError(
        "{}: exists already, and no {} says how it was made; give another name with -o, or replace "
        "it with --fresh",
        file->path.string(), with_suffix(".json").filename().string());
  }
}

void PairJournal::write_state() const {
  const Json state = {{"format", journal_format},
                      {"version", format_version},
                      {"regard", version()},
                      {"complete", is_complete_},
                      {"lines", progress_.lines},
                      {"pairs", progress_.pairs},
                      {"source_bytes", progress_.source_bytes},
                      {"target_bytes", progress_.target_bytes},
                      {"counts", progress_.counts},
                      {"settings", settings_}};
  write_file(with_suffix(".json"), to_text(state, 1) + "\n");
}

// Opens a partial file and cuts it to `size`.
void PairJournal::open(File& file, std::uint64_t size) const {
  const auto& path = file.partial;
  file.descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  const auto fail = [&] {
    throw EnvironmentError("{}: cannot be written ({})", path.string(), std::strerror(errno));
  };
  if (file.descriptor < 0) fail();
  const auto found = ::lseek(file.descriptor, 0, SEEK_END);
  if (found < 0) fail();
  if (static_cast<std::uint64_t>(found) < size) {
    throw InputError(
        "{}: found {}, expected at least the {} that {} records: it was changed or removed; start "
        "over with --fresh",
        path.string(), counted(found, "byte"), size, with_suffix(".json").string());
  }
  const auto end = static_cast<off_t>(size);
  if (::ftruncate(file.descriptor, end) != 0) fail();
  if (::lseek(file.descriptor, end, SEEK_SET) < 0) fail();
}

void PairJournal::read_pairs(
    const std::function<void(std::string_view, std::string_view)>& visit) const {
  std::ifstream source(source_.partial, std::ios::binary);
  std::ifstream target(target_.partial, std::ios::binary);
  std::string source_line, target_line;
  std::int64_t pairs = 0;
  while (std::getline(source, source_line) && std::getline(target, target_line)) {
    visit(source_line, target_line);
    ++pairs;
  }
  if (pairs == progress_.pairs) return;
  throw InputError("{}, {}: found {}, expected {}: the files were changed; start over with --fresh",
                   source_.partial.string(), target_.partial.string(), counted(pairs, "pair"),
                   progress_.pairs);
}

void PairJournal::add(std::string_view source, std::string_view target) {
  source_.waiting.append(source).push_back('\n');
  target_.waiting.append(target).push_back('\n');
  progress_.source_bytes += source.size() + 1;
  progress_.target_bytes += target.size() + 1;
  ++progress_.pairs;
}

void PairJournal::end_lines(std::int64_t lines, Json counts) {
  progress_.lines += lines;
  progress_.counts = std::move(counts);
  const auto passed = std::chrono::steady_clock::now() - last_save_;
  const bool is_due = passed >= min_save_interval && passed >= max_save_share * save_time_;
  if (is_due || source_.waiting.size() + target_.waiting.size() > max_waiting_bytes) save();
}

void PairJournal::flush(File& file) const {
  write_all(file.descriptor, file.waiting, file.partial);
  file.waiting.clear();
  sync_to_disk(file.partial);
}

void PairJournal::save() {
  const auto begin = std::chrono::steady_clock::now();
  flush(source_);
  flush(target_);
  write_state();
  last_save_ = std::chrono::steady_clock::now();
  save_time_ = last_save_ - begin;
}

// Renames a complete partial file. If there is none, the file must have its name already.
void PairJournal::rename_complete_file(const File& file, std::uint64_t size) const {
  const auto expected = static_cast<std::int64_t>(size);
  if (size_of(file.partial) == expected) {
    std::error_code error;
    fs::rename(file.partial, file.path, error);
    if (error) {
      throw EnvironmentError("{}: cannot be replaced ({})", file.path.string(), error.message());
    }
    const auto parent = file.path.parent_path();
    sync_to_disk(parent.empty() ? fs::path(".") : parent);
    return;
  }
  const auto found = size_of(file.path);
  if (found == expected) return;
  throw InputError("{}: found {}, expected the {} that {} records; write it anew with --fresh",
                   file.path.string(), found < 0 ? "no file" : counted(found, "byte"), expected,
                   with_suffix(".json").string());
}

void PairJournal::finish() {
  is_complete_ = true;
  save();
  rename_complete_file(source_, progress_.source_bytes);
  rename_complete_file(target_, progress_.target_bytes);
}

}  // namespace regard
