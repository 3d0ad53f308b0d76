#include "commands/unfinished_files.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace regard {
namespace {

// Plain characters: a handler may read them and call unlink(), and little else.
std::array<std::atomic<char*>, 16> paths;

extern "C" void remove_all() {
  for (auto& slot : paths) {
    if (const char* path = slot.load()) ::unlink(path);
  }
}

extern "C" void remove_and_end(int signal) {
  remove_all();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Where a signal is ignored (nohup) or somebody else's (a training's), it stays so.
void take_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction before = {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) std::signal(signal, remove_and_end);
  }
}

}  // namespace

UnfinishedFile::UnfinishedFile(const std::string& path) {
  [[maybe_unused]] static const bool registered = std::at_quick_exit(remove_all) == 0;
  take_signals();
  char* copy = ::strdup(path.c_str());
  for (std::size_t i = 0; i < paths.size() && slot_ < 0; ++i) {
    char* none = nullptr;
    if (paths[i].compare_exchange_strong(none, copy)) slot_ = static_cast<int>(i);
  }
  if (slot_ < 0) std::free(copy);
}

UnfinishedFile::~UnfinishedFile() {
  if (slot_ >= 0) std::free(paths[static_cast<std::size_t>(slot_)].exchange(nullptr));
}

UnfinishedFile::UnfinishedFile(UnfinishedFile&& other) noexcept
    : slot_(std::exchange(other.slot_, -1)) {}

UnfinishedFile& UnfinishedFile::operator=(UnfinishedFile&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

}  // namespace regard
