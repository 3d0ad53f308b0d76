// regard pipeline: runs the steps of a plan, each as a process of its own.
#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/choice.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "base/log.h"
#include "base/strings.h"
#include "commands/output_file.h"
#include "commands/pipeline/pipeline_step.h"
#include "commands/without_torch.h"
#include "config/training_options.h"
#include "report/format.h"
#include "report/run_logs.h"
#include "report/table.h"

namespace regard {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Blocks the signals that stop the pipeline and that of an ended process, so that next() can wait
// for them. Leaves out signals that are ignored, as SIGHUP is under nohup.
class SignalQueue {
 public:
  SignalQueue() {
    // If the signal is ignored, as a parent process can have set it, none is sent.
    std::signal(SIGCHLD, SIG_DFL);
    ::sigemptyset(&awaited_);
    ::sigaddset(&awaited_, SIGCHLD);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action = {};
      ::sigaction(signal, nullptr, &action);
      if (action.sa_handler != SIG_IGN) ::sigaddset(&awaited_, signal);
    }
    ::sigprocmask(SIG_BLOCK, &awaited_, &before_);
  }
  ~SignalQueue() { unblock(); }
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  // Restores the blocked signals of the program. For a child process.
  void unblock() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  // Waits for the next signal and returns it; 0 if the wait was interrupted.
  int next() const { return std::max(0, ::sigwaitinfo(&awaited_, nullptr)); }

 private:
  sigset_t awaited_ = {};
  sigset_t before_ = {};
};

// Makes `path` a standard stream of this process.
void redirect(const std::string& path, int flags, int stream) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (file < 0 || ::dup2(file, stream) < 0) {
    log::error("{}: cannot be written ({})", path, std::strerror(errno));
    ::_exit(static_cast<int>(ExitCode::environment));
  }
}

struct RunningStep {
  std::size_t index;
  pid_t pid;
  Clock::time_point start = Clock::now();
};

class PipelineRun {
 public:
  PipelineRun(const std::vector<PipelineStep>& steps, PipelineRecord& record,
              const PipelineArguments& arguments)
      : steps_(steps),
        record_(record),
        jobs_(static_cast<std::size_t>(arguments.jobs)),
        is_done_(steps.size(), false) {
    if (jobs_ > 1 || arguments.threads > 0) {
      const auto all = arguments.threads > 0 ? arguments.threads : usable_processors();
      threads_ = std::max<std::int64_t>(1, all / arguments.jobs);
    }
  }

  // Returns the exit code of the pipeline. Throws the error of a step that failed.
  ExitCode run() {
    for (start_steps(); !running_.empty(); start_steps()) {
      const int signal = signals_.next();
      if (signal == SIGCHLD || signal == 0) {
        collect_ended();
      } else {
        stop_signal_ = signal;
        stop_running(signal);
      }
    }
    if (stop_signal_ != 0) {
      log::info("Stopped by {}. Run the same command again to go on.", ::strsignal(stop_signal_));
      return static_cast<ExitCode>(128 + stop_signal_);
    }
    if (failure_) throw *failure_;
    return ExitCode::ok;
  }

 private:
  void say(std::size_t index, const std::string& text) const {
    log::info("[{}/{}] {}: {}", index + 1, steps_.size(), steps_[index].name, text);
  }
  std::string log_of(const PipelineStep& step) const { return step.result + ".log"; }

  bool waits(std::size_t i) const {
    return !is_done_[i] && std::ranges::count(running_, i, &RunningStep::index) == 0;
  }
  bool has_needs(std::size_t i) const {
    return std::ranges::all_of(steps_[i].needs, [&](auto need) { return is_done_[need]; });
  }

  // A step comes after those that it needs, so one pass finds all that are done.
  void start_steps() {
    if (stop_signal_ != 0 || failure_) return;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!waits(i) || !has_needs(i)) continue;
      is_done_[i] = record_.is_done(steps_[i]);
      if (is_done_[i]) {
        say(i, "done before, in " + format_duration(record_.seconds(steps_[i])));
      } else if (running_.size() < jobs_) {
        start(i);
      }
    }
  }

  void start(std::size_t i) {
    const auto& step = steps_[i];
    auto difference = record_.difference(step);
    if (record_.is_incomplete(step)) difference = "a file of its result is missing";
    if (!difference.empty()) {
      log::warning("{}: {}, so it runs again; its old result is kept as RESULT.old-N", step.name,
                   difference);
      record_.move_away(step);
    }
    auto words = step.words;
    if (threads_ > 0 && step.takes_threads) {
      words.insert(words.end(), {"--threads", std::to_string(threads_)});
    }
    if (log::is_quiet()) words.emplace_back("--quiet");
    say(i, shell_command(words));
    record_.put(step, record_.seconds(step), /*is_done=*/false);
    const auto pid = ::fork();
    if (pid < 0)
      throw EnvironmentError("{}: cannot be started ({})", step.name, std::strerror(errno));
    if (pid == 0) become(step, std::move(words));
    running_.push_back({i, pid});
  }

  // Replaces this process by the command.
  [[noreturn]] void become(const PipelineStep& step, std::vector<std::string> words) const {
    signals_.unblock();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // if the pipeline is killed
    if (step.prints_result()) redirect(step.result + ".part", O_TRUNC, STDOUT_FILENO);
    if (jobs_ > 1) redirect(log_of(step), O_APPEND, STDERR_FILENO);
    words.insert(words.begin(), "regard");
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv("/proc/self/exe", arguments.data());
    ::_exit(static_cast<int>(ExitCode::environment));
  }

  // A process of a terminal or of a service manager may have received the same signal already, and
  // the same signal twice ends a training without saving. So sends another one.
  void stop_running(int signal) const {
    for (const auto& step : running_) ::kill(step.pid, signal == SIGTERM ? SIGINT : SIGTERM);
  }

  void collect_ended() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto ended = std::ranges::find(running_, pid, &RunningStep::pid);
      if (ended == running_.end()) continue;
      const auto [index, own, start] = *ended;
      running_.erase(ended);
      finish(index, status, seconds_since(start));
    }
  }

  void finish(std::size_t i, int status, double seconds) {
    const auto& step = steps_[i];
    is_done_[i] = status == 0;
    if (is_done_[i] && step.prints_result()) {
      std::filesystem::rename(step.result + ".part", step.result);
    }
    record_.put(step, record_.seconds(step) + seconds, is_done_[i]);
    if (is_done_[i]) {
      return say(
          i, fmt::format("done in {}, {} after the start", format_duration(record_.seconds(step)),
                         format_duration(seconds_since(start_))));
    }
    if (stop_signal_ != 0 || failure_) return;  // it was stopped
    const bool was_killed = WIFSIGNALED(status);
    const auto reason =
        was_killed ? fmt::format("was ended by a signal ({})", ::strsignal(WTERMSIG(status)))
                   : fmt::format("ended with exit code {}", WEXITSTATUS(status));
    failure_.emplace(
        was_killed ? ExitCode::environment : static_cast<ExitCode>(WEXITSTATUS(status)),
        fmt::format("{}: `regard {}` {}, so that no step after it runs{}; correct it and run the "
                    "same command again",
                    step.name, step.command(), reason, jobs_ > 1 ? "; " + last_message(step) : ""));
    stop_running(SIGINT);
  }

  // Returns the log of a step and its last line.
  std::string last_message(const PipelineStep& step) const {
    const auto lines = read_complete_lines(log_of(step));
    return lines.empty() ? log_of(step) : log_of(step) + ": " + lines.back();
  }

  const std::vector<PipelineStep>& steps_;
  PipelineRecord& record_;
  std::size_t jobs_;
  std::int64_t threads_ = 0;  // of each step; 0: as many as it takes by itself
  SignalQueue signals_;
  std::vector<bool> is_done_;
  Clock::time_point start_ = Clock::now();
  std::vector<RunningStep> running_;
  int stop_signal_ = 0;
  std::optional<Error> failure_;
};

// Returns the scores of the best validation of a training, or those of an evaluation, by name.
Json scores_of(const PipelineStep& step) {
  auto scores = Json::object();
  const auto file = step.result + "/validations.tsv";
  if (step.command() == "train" && is_file(file)) {
    const auto validations = read_validations(file);
    const auto best = validations.best_row();
    for (const auto& name : choice_names<Metric>()) {
      const auto values = validations.numbers(name);
      if (!best || name == "loss" || values.empty() || std::isnan(values[*best])) continue;
      scores[name] = values[*best];
    }
  } else if (step.command() == "evaluate") {
    const auto all = parse_json(read_file<InputError>(step.result, "scores"));
    for (const auto& [name, value] : all.items()) {
      if (value.is_object() && value.contains("score")) scores[name] = value.at("score");
      if (name == "perplexity") scores[name] = value;
    }
  }
  return scores;
}

Json summary_of(const std::vector<PipelineStep>& steps, const PipelineRecord& record) {
  auto all = Json::array();
  for (const auto& step : steps) {
    all.push_back({{"name", step.name},
                   {"command", step.command()},
                   {"result", step.result},
                   {"seconds", record.seconds(step)},
                   {"scores", scores_of(step)}});
  }
  return {{"steps", all}};
}

// Returns the table of all steps with their scores.
std::string summary_table(const Json& summary) {
  std::vector<std::string> names;
  for (const auto& step : summary.at("steps")) {
    for (const auto& [name, score] : step.at("scores").items()) {
      if (std::ranges::count(names, name) == 0) names.push_back(name);
    }
  }
  std::vector<Table::Column> columns = {{"step"}, {"command"}, {"time", Align::right}};
  for (const auto& name : names) columns.push_back({name, Align::right});
  Table table(columns);
  for (const auto& step : summary.at("steps")) {
    std::vector<std::string> row = {step.at("name"), step.at("command"),
                                    format_duration(step.at("seconds"))};
    for (const auto& name : names) {
      const auto score = step.at("scores").value(name, Json());
      row.push_back(score.is_number() ? format_fixed(score, 2) : "");
    }
    table.add(row);
  }
  return table.text() + "The scores of a training are those of its best validation.\n";
}

// Throws CheckpointError for results of other commands or inputs. With `fresh`, moves them away.
void check_changes(const std::vector<PipelineStep>& steps, PipelineRecord& record, bool fresh) {
  std::string changes;
  for (const auto& step : steps) {
    const auto difference = record.difference(step);
    if (!difference.empty()) changes += fmt::format("\n  {}: {}", step.name, difference);
  }
  if (changes.empty()) return;
  if (!fresh) {
    throw CheckpointError(
        "found results of another plan or other files:{}\n--fresh runs these steps again and keeps "
        "the old results as RESULT.old-N; or restore them, or set another `out`",
        changes);
  }
  log::warning("These steps run again, and their old results are kept as RESULT.old-N:{}", changes);
  for (const auto& step : steps) {
    if (!record.difference(step).empty()) record.move_away(step);
  }
}

}  // namespace

ExitCode run_pipeline(const PipelineArguments& arguments) {
  const auto plan = read_plan(arguments.plan, arguments.variables);
  const auto steps = make_steps(plan);
  if (arguments.dry_run) {
    std::string commands;
    for (const auto& step : steps) {
      commands += shell_command(step.words);
      if (step.prints_result()) commands += " > " + shell_word(step.result);
      commands += "\n";
    }
    write_output("", commands);
    return ExitCode::ok;
  }
  make_folder(plan.out);
  const FileLock lock(plan.out + "/.pipeline.lock",
                      plan.out + ": another pipeline is running in this folder; wait for it");
  PipelineRecord record(plan.out, steps);
  check_changes(steps, record, arguments.fresh);
  const auto code = PipelineRun(steps, record, arguments).run();
  if (code != ExitCode::ok) return code;
  const auto summary = summary_of(steps, record);
  write_output("", arguments.json ? to_text(summary, 2) + "\n" : summary_table(summary));
  return ExitCode::ok;
}

}  // namespace regard
