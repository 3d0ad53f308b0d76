// Runs the built binary as a user would, and makes the models that these tests share.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace regard {

struct Finished {
  int code = -1;  // the exit code; 128 + N for signal N
  std::string out;
  std::string err;
};

// regard with these arguments and `input` on its standard input (a pipe).
Finished run(const std::vector<std::string>& arguments, const std::string& input = "");

// regard at work: for what it does before its input ends.
class Running {
 public:
  explicit Running(const std::vector<std::string>& arguments);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void write(const std::string& text);
  // The next line of its standard output; nothing when it ends, or for a minute gives none.
  std::optional<std::string> read_line();
  void send(int signal);
  // Ends its input and waits for it; its code is 128 and a signal's number where that ended it.
  Finished finish();

 private:
  bool read_some(int timeout);

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::filesystem::path errors_;
  std::string unread_;
  std::string out_;
};

std::filesystem::path cli_folder();  // of this binary, in the build folder
// A folder of one test, new and empty.
std::filesystem::path fresh_folder();

void write_text(const std::filesystem::path& path, const std::string& text);
std::string read_text(const std::filesystem::path& path);
std::vector<std::string> lines_of(const std::string& text);

// Parallel text of a toy language: each word has one translation, the order is kept.
struct ToyCorpus {
  std::string source;
  std::string target;
};
ToyCorpus toy_corpus(std::size_t lines, unsigned seed);

// Lays a toy corpus and a configuration into the folder, which is made anew; returns the
// configuration's path. It trains into folder/run, in about two seconds.
std::filesystem::path toy_training(const std::filesystem::path& folder);
// What makes a Transformer of it, on the command line.
std::vector<std::string> as_transformer();

// Runs trained for a few steps on 200 toy pairs, once for each build of the binary, whatever number
// of test processes ask at once. They translate badly, but surely.
std::filesystem::path tiny_model();          // words, additive attention
std::filesystem::path tiny_fixed_context();  // words, no attention
std::filesystem::path tiny_transformer();    // words, two layers
std::filesystem::path tiny_lstm();           // words, self-attention on top, attention as in an NTM

// Of toy_training()'s dev.en, by the tiny model.
std::string tiny_translation();

}  // namespace regard
