// Runs the built program, and trains the models that the tests share.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
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

// A test with a folder of its own.
class CliTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& text) const {
    write_text(folder_ / name, text);
    return path(name);
  }

  const std::filesystem::path folder_ = fresh_folder();
};

// Copy a run with its links, or its best model. Return `to`.
std::filesystem::path copy_of_run(const std::filesystem::path& run,
                                  const std::filesystem::path& to);
std::filesystem::path copy_of_model(const std::filesystem::path& run,
                                    const std::filesystem::path& to);

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
// As toy_training(), for a language model of the target side.
std::filesystem::path language_model_training(const std::filesystem::path& folder);

// Returns the run in the folder NAME of cli_folder(). Trains it once per build of the programs,
// even if several test processes ask at the same time. `prepare` fills the folder and returns its
// configuration, which writes to NAME/run. Tests must not change the folder.
std::filesystem::path trained_once(
    const std::string& name, const Words& overrides,
    const std::function<std::filesystem::path(const std::filesystem::path& folder)>& prepare =
        toy_training);

// Return such runs, trained for a few steps on 200 toy pairs. They translate badly, but reliably.
std::filesystem::path tiny_model();           // words, additive attention
std::filesystem::path tiny_fixed_context();   // words, no attention
std::filesystem::path tiny_transformer();     // words, two layers
std::filesystem::path tiny_lstm();            // words, self-attention on top, ntm attention
std::filesystem::path tiny_reverse();         // words, from the target to the source language
std::filesystem::path tiny_language_model();  // words of the target language
// Words of one vocabulary. Translates with the tag <2fr> on this side, copies with <2en>.
std::filesystem::path tiny_tagged(const std::string& side = "trg_tag");

// Returns the translation of toy_training()'s dev.en by the tiny model.
std::string tiny_translation();
// Runs `regard translate` with the tiny model, and one thread unless the options say otherwise.
Finished translate(const Words& options, const std::string& input = "");

}  // namespace regard
