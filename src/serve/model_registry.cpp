#include "serve/model_registry.h"

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/suggest.h"
#include "serve/http_message.h"
#include "text/unicode.h"

namespace regard {
namespace {

// Characters that need no escape in a path (RFC 3986, section 2.3).
constexpr std::string_view name_characters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-";

}  // namespace

ModelRegistry::~ModelRegistry() {
  is_ending_ = true;  // reloads that wait are left out
  asio::post(thread_, [this] { entries_.clear(); });
  thread_.join();
}

ModelRegistry::Service ModelRegistry::load(const Loader& loader) {
  return {loader().release(), [this](TranslationService* service) {
            asio::dispatch(thread_, [service] { delete service; });
          }};
}

void ModelRegistry::add(const std::string& name, Loader loader) {
  if (name.empty() || name.find_first_not_of(name_characters) != std::string::npos) {
    throw ConfigError(
        "-m: found the model name `{}`, expected only the characters A-Z a-z 0-9 . _ ~ -; name the "
        "model: -m NAME=MODEL",
        excerpt(name));
  }
  for (const auto& entry : entries_) {
    if (entry.name != name) continue;
    throw ConfigError("-m: found two models with the name {}; name them: -m NAME=MODEL", name);
  }
  auto service = load(loader);
  entries_.push_back({name, std::move(loader), std::move(service)});
}

bool ModelRegistry::begin_reload(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return !std::exchange(std::ranges::find(entries_, name, &Entry::name)->is_loading, true);
}

void ModelRegistry::reload(const std::string& name) {
  if (is_ending_) throw EnvironmentError("the server is stopping");
  const auto entry = std::ranges::find(entries_, name, &Entry::name);
  Service service;
  std::exception_ptr failure;
  try {
    service = load(entry->loader);
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    entry->is_loading = false;
    if (service) std::swap(entry->service, service);
  }
  if (failure) std::rethrow_exception(failure);
  log::info("{}: loaded again", name);
}

void ModelRegistry::reload_all() {
  for (const auto& name : names()) {
    if (!begin_reload(name)) continue;
    asio::post(thread_, [this, name] {
      try {
        reload(name);
      } catch (const std::exception& error) {
        log::error("{}: could not be loaded again, so the old model stays: {}", name, error.what());
      }
    });
  }
}

std::vector<std::string> ModelRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) names.push_back(entry.name);
  return names;
}

ModelRegistry::Service ModelRegistry::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  if (name.empty()) return entries_.front().service;
  const auto entry = std::ranges::find(entries_, name, &Entry::name);
  if (entry != entries_.end()) return entry->service;
  throw HttpError(404, "not_found", unknown_name("model", excerpt(name), names()).what());
}

}  // namespace regard
