// regard serve: translates by HTTP until it is told to stop.
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "commands/commands.h"
#include "commands/loaded_model.h"
#include "commands/serve/served_model.h"
#include "serve/http_server.h"
#include "serve/translation_api.h"

namespace regard {
namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Stops the server at SIGINT, SIGTERM or SIGHUP, on a thread of its own. A second signal ends the
// program at once. Signals that the program ignored at its start, as under nohup, stay ignored.
class StopSignals {
 public:
  // Call before any other thread is started, so that the others do not receive the signals.
  StopSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGUSR1);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      if (!is_ignored(number)) sigaddset(&signals_, number);
    }
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  ~StopSignals() {
    if (!thread_.joinable()) return;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  void stop(HttpServer& server) {
    thread_ = std::thread([this, &server] {
      for (bool stopping = false;; stopping = true) {
        int number = 0;
        sigwait(&signals_, &number);
        if (number == SIGUSR1) return;
        if (stopping) ::_exit(128 + number);
        log::info("Stopping: the requests in progress are finished first.");
        server.stop();
      }
    });
  }

 private:
  sigset_t signals_;
  std::thread thread_;
};

// Returns the name and the path of a model, "NAME=MODEL" or "MODEL". The path of a file or folder
// is a MODEL, also with a "=" in it.
std::pair<std::string, std::string> name_and_path(const std::string& argument) {
  const auto equals = argument.find('=');
  std::error_code ignored;
  if (equals != std::string::npos && argument.find('/') > equals &&
      !std::filesystem::exists(argument, ignored)) {
    const auto name = argument.substr(0, equals);
    if (name.empty()) throw ConfigError("-m {}: the name before = is empty", argument);
    return {name, argument.substr(equals + 1)};
  }
  auto path = std::filesystem::path(argument);
  if (!path.has_filename()) path = path.parent_path();  // runs/mine/
  return {path.filename().string(), argument};
}

std::string read_token(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  if (!file || !std::getline(file, token)) {
    throw EnvironmentError("--token-file {}: cannot be read, or is empty", path);
  }
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  if (token.empty()) throw ConfigError("--token-file {}: its first line is empty", path);
  return token;
}

HttpOptions http_options(const ServeArguments& arguments) {
  HttpOptions options;
  options.host = arguments.host;
  options.port = static_cast<int>(arguments.port);
  options.max_connections = static_cast<std::size_t>(arguments.max_connections);
  options.max_body_bytes =
      std::min(std::size_t{64} << 20, static_cast<std::size_t>(arguments.max_lines) *
                                              static_cast<std::size_t>(arguments.max_characters) +
                                          (std::size_t{1} << 20));
  options.receive_timeout = std::chrono::seconds(arguments.receive_timeout);
  options.send_timeout = std::chrono::seconds(arguments.receive_timeout);
  if (!arguments.token_file.empty()) options.token = read_token(arguments.token_file);
  return options;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

}  // namespace

ExitCode serve(const ServeArguments& arguments) {
#ifdef M_ARENA_MAX
  // By default, the memory that the connections have freed could remain in eight heaps per core.
  ::mallopt(M_ARENA_MAX, 4);
#endif
  StopSignals signals;
  HttpServer server(http_options(arguments));
  const auto port = server.bind();  // before the models are loaded, which takes longer

  ApiOptions options;
  options.limits = {.max_lines = static_cast<std::size_t>(arguments.max_lines),
                    .max_characters = static_cast<std::size_t>(arguments.max_characters),
                    .max_beam_size = arguments.max_beam_size};
  options.max_waiting_lines = static_cast<std::size_t>(arguments.max_waiting);
  options.timeout = std::chrono::seconds(arguments.timeout);
  options.log_text = arguments.log_text;

  std::vector<std::unique_ptr<TranslationService>> services;
  for (const auto& argument : arguments.models) {
    const auto [name, path] = name_and_path(argument);
    for (const auto& service : services) {
      if (service->name() != name) continue;
      throw ConfigError("-m {}: found two models with the name {}; name them: -m NAME=MODEL",
                        argument, name);
    }
    auto model_arguments = arguments.device;
    model_arguments.models = {path};
    auto model = load_models(model_arguments);
    const auto search = arguments.search.apply_to(model.contents.options.search);
    check_search(search, *model.contents.model);
    services.push_back(
        std::make_unique<ServedModel>(name, std::move(model), search, options.limits));
    log::info("{}: {}", name, services.back()->description()["description"].get<std::string>());
  }
  const TranslationApi api(server, services, options);
  if (!is_loopback(arguments.host) && arguments.token_file.empty()) {
    log::warning(
        "--host {}: anyone who reaches this address can translate; --token-file asks for a token",
        arguments.host);
  }
  const bool is_v6 = arguments.host.find(':') != std::string::npos;
  log::info("Serving {} at http://{}:{}/; stop with Ctrl-C.", counted(services.size(), "model"),
            is_v6 ? "[" + arguments.host + "]" : arguments.host, port);
  signals.stop(server);
  server.run();
  log::info("Stopped.");
  return ExitCode::ok;
}

}  // namespace regard
