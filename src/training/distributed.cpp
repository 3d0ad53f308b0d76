#include "training/distributed.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/version.h"

namespace regard {
namespace {

std::int64_t whole_number(const std::string& name, const std::string& text, std::int64_t low,
                          std::int64_t high) {
  const auto value = parse_number<std::int64_t>(text);
  if (!value || *value < low || *value > high) {
    throw ConfigError("environment variable {}: found '{}', expected a number from {} to {}", name,
                      text, low, high);
  }
  return *value;
}

}  // namespace

ProcessPlace process_place(const std::function<std::string(const std::string&)>& variable) {
  ProcessPlace place;
  std::string size_name = "WORLD_SIZE";
  std::string rank_name = "RANK";
  if (variable(size_name).empty()) {
    if (variable("MASTER_ADDR").empty() || variable("SLURM_STEP_NUM_TASKS").empty()) return place;
    size_name = "SLURM_STEP_NUM_TASKS";
    rank_name = "SLURM_PROCID";
  }
  constexpr std::int64_t max_processes = 100'000;
  const auto size = whole_number(size_name, variable(size_name), 1, max_processes);
  if (size == 1) return place;
  const auto need = [&](const std::string& name) {
    auto value = variable(name);
    if (!value.empty()) return value;
    throw ConfigError(
        "{}={} wants {} processes, but {} is not set. torchrun sets all variables; by hand, set "
        "RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each process ({}/scaling.md)",
        size_name, size, size, name, docs_folder());
  };
  place.size = static_cast<std::size_t>(size);
  place.rank = static_cast<std::size_t>(whole_number(rank_name, need(rank_name), 0, size - 1));
  place.address = need("MASTER_ADDR");
  if (const auto port = variable("MASTER_PORT"); !port.empty()) {
    place.port = static_cast<std::uint16_t>(whole_number("MASTER_PORT", port, 1, 65535));
  }
  place.has_agent_store = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (const auto attempt = variable("TORCHELASTIC_RESTART_COUNT"); !attempt.empty()) {
    place.attempt = attempt;
  }
  return place;
}

ProcessPlace process_place() {
  return process_place([](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value != nullptr ? value : "");
  });
}

namespace {

// Returns the first line in which two texts differ.
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  const auto lines_a = split(a, '\n');
  const auto lines_b = split(b, '\n');
  for (std::size_t i = 0; i < std::max(lines_a.size(), lines_b.size()); ++i) {
    const std::string line_a(i < lines_a.size() ? lines_a[i] : "");
    const std::string line_b(i < lines_b.size() ? lines_b[i] : "");
    if (line_a != line_b) return {line_a, line_b};
  }
  return {};
}

}  // namespace

void check_equal(ProcessGroup& group, const Json& facts) {
  const auto all = group.gather(to_text(facts));
  const auto first = parse_json(all.front());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const auto other = parse_json(all[rank]);
    for (const auto& [name, value] : first.items()) {
      const auto a = value.get<std::string>();
      const auto b = other.value(name, "");
      if (a == b) continue;
      const auto [line_a, line_b] = first_difference(a, b);
      throw ConfigError(
          "process {} trains with another {} than process 0: found '{}', expected '{}'; give all "
          "processes the same",
          rank, name, line_b, line_a);
    }
  }
}

std::optional<std::filesystem::path> share_folder(
    ProcessGroup& group, const std::optional<std::filesystem::path>& folder,
    const std::filesystem::path& below) {
  if (group.is_alone()) return folder;
  Json list = Json::object();
  if (group.is_first() && folder) {
    auto files = Json::array();
    for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path().filename().string());
    }
    list = {{"name", folder->filename().string()}, {"files", files}};
  }
  list = parse_json(group.broadcast(to_text(list)));
  if (list.empty()) return std::nullopt;
  const auto copy = below / list.at("name").get<std::string>();
  if (!group.is_first()) std::filesystem::create_directories(copy);
  for (const auto& name : list.at("files")) {
    const auto file = name.get<std::string>();
    std::string bytes;
    if (group.is_first()) bytes = read_file<CheckpointError>(*folder / file, "checkpoint file");
    bytes = group.broadcast(bytes);
    if (!group.is_first()) write_file(copy / file, bytes);
  }
  return group.is_first() ? folder : copy;
}

namespace {

constexpr std::string_view temporary_prefix = "regard-process-";

// Returns a locked descriptor of the folder; -1 if another process holds the lock.
int lock_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

// Removes the folders of processes that were killed. Those of others cannot be removed.
void remove_left_folders(const std::filesystem::path& parent) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(temporary_prefix)) continue;
    // A folder of the last seconds may not be locked yet.
    const auto changed = std::filesystem::last_write_time(entry.path(), ignored);
    const auto now = std::filesystem::file_time_type::clock::now();
    if (ignored || now - changed < std::chrono::minutes(1)) continue;
    const int lock = lock_folder(entry.path());
    if (lock < 0) continue;
    std::filesystem::remove_all(entry.path(), ignored);
    ::close(lock);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const auto parent = std::filesystem::temp_directory_path();
  remove_left_folders(parent);
  auto name = (parent / fmt::format("{}XXXXXX", temporary_prefix)).string();
  if (mkdtemp(name.data()) == nullptr) {
    throw EnvironmentError("{}: cannot create a folder: {}", name, std::strerror(errno));
  }
  path_ = name;
  lock_ = lock_folder(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace regard
