// The models of a server, by name.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "serve/asio.h"
#include "serve/translation_service.h"

namespace regard {

// A model can be loaded again while it is in use: new requests go to the new one, running ones end
// with the old one. Thread-safe.
class ModelRegistry {
 public:
  using Service = std::shared_ptr<TranslationService>;
  using Loader = std::function<std::unique_ptr<TranslationService>()>;

  ~ModelRegistry();

  // Loads a model. Throws what the loader throws, and ConfigError for a name that cannot be a part
  // of a path as it is.
  void add(const std::string& name, Loader loader);
  // Returns false if the model is being loaded again, or waits for it. Otherwise reload() must
  // follow.
  bool begin_reload(const std::string& name);
  // Loads a model again. If that fails, rethrows the exception and keeps the model. Call it on
  // thread(), after begin_reload().
  void reload(const std::string& name);
  // Loads all models again on thread(), and logs errors. Returns at once. Leaves out a model that
  // is being loaded already.
  void reload_all();
  // One thread, which loads and destroys models. The last user of an old model may be one of its
  // own threads.
  asio::thread_pool& thread() { return thread_; }

  std::vector<std::string> names() const;  // in the order of add()
  // Returns the model, the first one for an empty name. Throws HttpError 404.
  Service find(const std::string& name) const;

 private:
  struct Entry {
    std::string name;
    Loader loader;
    Service service;
    bool is_loading = false;
  };

  Service load(const Loader& loader);

  std::atomic<bool> is_ending_ = false;
  mutable std::mutex mutex_;  // guards `service` and `is_loading` of the entries
  std::vector<Entry> entries_;
  asio::thread_pool thread_{1};
};

}  // namespace regard
