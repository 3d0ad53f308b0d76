#include "tests/cli/run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace regard {
namespace {

namespace fs = std::filesystem;

constexpr int patience = 60'000;  // ms

fs::path binary() {
  return fs::path(REGARD_BINARY_DIR) / "regard";
}

// Waits for the end of the process, and kills it if it takes too long: its code is then 137.
int exit_code_of(pid_t pid) {
  int status = 0;
  for (int waited = 0; waitpid(pid, &status, WNOHANG) == 0; ++waited) {
    if (waited == patience) kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

[[noreturn]] void become(const std::vector<std::string>& arguments, int input, int output,
                         const fs::path& errors, const std::vector<int>& ignored_signals) {
  const int error = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  // Restores default signals, in case the tests run under nohup or in the background.
  for (const int signal : {SIGPIPE, SIGINT, SIGHUP}) std::signal(signal, SIG_DFL);
  for (const int signal : ignored_signals) std::signal(signal, SIG_IGN);
  const auto program = binary().string();
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  _exit(127);
}

}  // namespace

Running::Running(const std::vector<std::string>& arguments,
                 const std::vector<int>& ignored_signals) {
  std::signal(SIGPIPE, SIG_IGN);  // a program that ends early is seen by its exit code
  static int runs = 0;
  errors_ = cli_folder() / ("stderr-" + std::to_string(getpid()) + "-" + std::to_string(++runs));
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  pid_ = fork();
  if (pid_ == 0) become(arguments, in[0], out[1], errors_, ignored_signals);
  close(in[0]);
  close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

Running::~Running() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    exit_code_of(pid_);
  }
  if (input_ >= 0) close(input_);
  close(output_);
  std::error_code ignored;
  fs::remove(errors_, ignored);
}

void Running::write(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto count = ::write(input_, text.data() + at, text.size() - at);
    if (count <= 0) return;
    at += static_cast<std::size_t>(count);
  }
}

bool Running::read_some(int timeout) {
  pollfd ready{output_, POLLIN, 0};
  if (poll(&ready, 1, timeout) <= 0) return false;
  char buffer[4096];
  const auto count = read(output_, buffer, sizeof buffer);
  if (count <= 0) return false;
  unread_.append(buffer, static_cast<std::size_t>(count));
  out_.append(buffer, static_cast<std::size_t>(count));
  return true;
}

std::optional<std::string> Running::read_line() {
  while (unread_.find('\n') == std::string::npos) {
    if (!read_some(patience)) return std::nullopt;
  }
  const auto end = unread_.find('\n');
  auto line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return line;
}

void Running::send(int signal) {
  kill(pid_, signal);
}

Finished Running::finish() {
  close(input_);
  input_ = -1;
  while (read_some(patience)) {
  }
  Finished finished;
  finished.code = exit_code_of(pid_);
  pid_ = -1;
  finished.out = out_;
  finished.err = read_text(errors_);
  return finished;
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Finished run(const std::vector<std::string>& arguments, const std::string& input) {
  Running running(arguments);
  running.write(input);  // what these tests write fits into a pipe
  return running.finish();
}

fs::path cli_folder() {
  const auto folder = fs::path(REGARD_BINARY_DIR) / "tests" / "cli";
  fs::create_directories(folder);
  return folder;
}

fs::path fresh_folder() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const auto folder = cli_folder() / (std::string(test->test_suite_name()) + "." + test->name());
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

fs::path copy_of_run(const fs::path& run, const fs::path& to) {
  fs::copy(run, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  return to;
}

fs::path copy_of_model(const fs::path& run, const fs::path& to) {
  fs::copy(fs::canonical(run / "best"), to, fs::copy_options::recursive);
  return to;
}

}  // namespace regard
