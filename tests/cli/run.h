// Runs the built program, and trains the models that the tests share.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace regard {

// Arguments of a command.
using Words = std::vector<std::string>;
Words operator+(Words words, const Words& more);

struct Finished {
  int code = -1;  // the exit code; 128 + N for signal N; 137 also if it did not end in a minute
  std::string out;
  std::string err;
};

// Runs regard with these arguments and `input` on standard input (a pipe).
Finished run(const std::vector<std::string>& arguments, const std::string& input = "");

// A running regard, for tests of its behaviour before the end of input.
class Running {
 public:
  // The program starts with these signals ignored.
  explicit Running(const std::vector<std::string>& arguments,
                   const std::vector<int>& ignored_signals = {});
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void write(const std::string& text);
  // Returns the next line of standard output; nullopt at the end or after a minute without output.
  std::optional<std::string> read_line();
  void send(int signal);
  // Closes standard input and waits for the end. The code is 128 + N if signal N ended it.
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

// Returns a folder in the build folder for the tests of this binary.
std::filesystem::path cli_folder();
// Creates an empty folder for one test.
std::filesystem::path fresh_folder();

void write_text(const std::filesystem::path& path, const std::string& text);
std::string read_text(const std::filesystem::path& path);
std::vector<std::string> lines_of(const std::string& text);

// Parallel text of a toy language: each word has one translation, and the order is kept.
struct ToyCorpus {
  std::string source;
  std::string target;
};
ToyCorpus toy_corpus(std::size_t lines, unsigned seed);

// Recreates the folder with a toy corpus and a configuration, and returns the path of the
// configuration. The training takes about two seconds and writes to folder/run.
std::filesystem::path toy_training(const std::filesystem::path& folder);
// Returns the overrides that turn it into a Transformer.
std::vector<std::string> as_transformer();

// Return runs trained for a few steps on 200 toy pairs, once per build of the program, even if
// several test processes ask at the same time. They translate badly, but reliably.
std::filesystem::path tiny_model();          // words, additive attention
std::filesystem::path tiny_fixed_context();  // words, no attention
std::filesystem::path tiny_transformer();    // words, two layers
std::filesystem::path tiny_lstm();           // words, self-attention on top, ntm attention
// Words of one vocabulary. Translates with the target tag <2fr>, copies with <2en>.
std::filesystem::path tiny_tagged();

// Returns the translation of toy_training()'s dev.en by the tiny model.
std::string tiny_translation();

}  // namespace regard
