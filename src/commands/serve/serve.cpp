// regard serve: translates by HTTP until it is told to stop.
#include <malloc.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
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

// Sends a state such as "READY=1" to systemd, if it started the program with Type=notify
// (sd_notify(3)).
void notify_systemd(const std::string& state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::string_view(path).size() >= sizeof address.sun_path) return;
  const std::string_view name = path;
  name.copy(address.sun_path, name.size());
  if (name.starts_with('@')) address.sun_path[0] = '\0';  // no file
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  ::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address),
           static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size()));
  ::close(socket);
}

// Blocks the signals that SignalThread serves, in this thread and in those that it starts later.
// Signals that the program ignored at its start, as under nohup, stay ignored.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(number)) sigaddset(&signals, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Stops the server at SIGINT or SIGTERM, also while the models are loaded, and loads the models
// again at SIGHUP. A second signal to stop ends the program at once.
class SignalThread {
 public:
  SignalThread(const sigset_t& signals, HttpServer& server, ModelRegistry& models)
      : thread_([this, signals, &server, &models] { serve_signals(signals, server, models); }) {}
  ~SignalThread() {
    is_ending_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

  // Call when the models are loaded.
  void allow_reload() { can_reload_ = true; }

 private:
  void serve_signals(const sigset_t& signals, HttpServer& server, ModelRegistry& models) const {
    for (;;) {
      int number = 0;
      sigwait(&signals, &number);
      if (number == SIGUSR1) {
        if (is_ending_) return;
        continue;
      }
      if (number == SIGHUP) {
        if (can_reload_) models.reload_all();
        continue;
      }
      if (server.is_stopping()) ::_exit(128 + number);
      log::info("Stopping: the requests in progress are finished first.");
      notify_systemd("STOPPING=1");
      server.stop();
    }
  }

  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> can_reload_ = false;
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

// Returns the glossaries of a model: those without a name, and those with its name.
std::vector<std::string> glossaries_of(const ServeArguments& arguments, const std::string& model) {
  std::vector<std::string> files;
  for (const auto& argument : arguments.glossaries) {
    const auto equals = argument.find('=');
    const auto name = argument.substr(0, equals);
    const bool is_named = equals != std::string::npos &&
                          std::ranges::any_of(arguments.models, [&](const std::string& each) {
                            return name_and_path(each).first == name;
                          });
    if (!is_named) files.push_back(argument);
    if (is_named && name == model) files.push_back(argument.substr(equals + 1));
  }
  return files;
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
  if (arguments.host.empty()) throw ConfigError("--host: found an empty address");
  options.host = arguments.host;
  options.port = static_cast<int>(arguments.port);
  options.allowed = {arguments.host_names, arguments.allowed_origins};
  if (!is_address(arguments.host)) options.allowed.names.push_back(arguments.host);
  options.memory = {static_cast<std::size_t>(arguments.request_memory) << 20,
                    static_cast<std::size_t>(arguments.max_memory) << 20};
  options.max_connections = static_cast<std::size_t>(arguments.max_connections);
  options.max_body_bytes =
      std::min(std::size_t{64} << 20, static_cast<std::size_t>(arguments.max_lines) *
                                              static_cast<std::size_t>(arguments.max_characters) +
                                          (std::size_t{1} << 20));
  options.receive_timeout = std::chrono::seconds(arguments.receive_timeout);
  options.send_timeout = std::chrono::seconds(arguments.receive_timeout);
  options.stop_timeout = std::chrono::seconds(arguments.stop_timeout);
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
  const auto signals = block_signals();  // before any other thread is started
  ApiOptions options;
  options.limits = {.max_lines = static_cast<std::size_t>(arguments.max_lines),
                    .max_characters = static_cast<std::size_t>(arguments.max_characters),
                    .max_beam_size = arguments.max_beam_size};
  options.max_waiting_sentences = static_cast<std::size_t>(arguments.max_waiting);
  options.timeout = std::chrono::seconds(arguments.timeout);
  options.log_text = arguments.log_text;

  HttpServer server(http_options(arguments));
  ModelRegistry models;
  SignalThread signal_thread(signals, server, models);
  const auto port = server.bind();  // before the models are loaded, which takes longer

  for (const auto& argument : arguments.models) {
    const auto [name, path] = name_and_path(argument);
    models.add(name, [&, name = name, path = path]() -> std::unique_ptr<TranslationService> {
      auto model_arguments = arguments.device;
      model_arguments.models = {path};
      auto model = load_models(model_arguments);
      const auto search = arguments.search.apply_to(model.contents.options.search);
      check_search(search, *model.contents.model);
      return std::make_unique<ServedModel>(name, std::move(model), search, options.limits,
                                           glossaries_of(arguments, name));
    });
    if (server.is_stopping()) return ExitCode::ok;
    log::info("{}: {}", name, models.find(name)->description()["description"].get<std::string>());
  }
  const TranslationApi api(server, models, options);
  if (!is_loopback(arguments.host) && arguments.token_file.empty()) {
    log::warning(
        "--host {}: anyone who reaches this address can translate; --token-file asks for a token",
        arguments.host);
  }
  const bool is_v6 = arguments.host.find(':') != std::string::npos;
  log::info("Serving {} at http://{}:{}/; stop with Ctrl-C.",
            counted(arguments.models.size(), "model"),
            is_v6 ? "[" + arguments.host + "]" : arguments.host, port);
  signal_thread.allow_reload();
  notify_systemd("READY=1");
  server.run();
  log::info("Stopped.");
  return ExitCode::ok;
}

}  // namespace regard
