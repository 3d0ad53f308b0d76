// Parses the command lines of the generators: pairs of an option and its value.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/strings.h"

namespace regard::corpus {

// while (reader.next()) { reader.text("--out", out); reader.number("--seed", seed); }
class OptionReader {
 public:
  OptionReader(int argc, char** argv, std::string_view usage)
      : argc_(argc), argv_(argv), usage_(usage) {}

  // Reads the next pair; returns false at the end. Throws ConfigError if the last option was
  // unknown or an option has no value. Prints the usage and returns false for --help.
  bool next() {
    if (!used_) throw ConfigError("unknown option: {}\n{}", option_, usage_);
    if (at_ >= argc_) return false;
    option_ = argv_[at_];
    if (option_ == "--help") {
      fmt::print("{}", usage_);
      help_requested_ = true;
      return false;
    }
    if (at_ + 1 == argc_) {
      throw ConfigError("{}: found no value for this option\n{}", option_, usage_);
    }
    value_ = argv_[at_ + 1];
    at_ += 2;
    used_ = false;
    return true;
  }
  bool help_requested() const { return help_requested_; }

  void text(std::string_view option, std::string& value) {
    if (!is(option)) return;
    value = value_;
  }
  template <typename Number>
  void number(std::string_view option, Number& value) {
    if (!is(option)) return;
    const auto number = parse_number<Number>(value_);
    if (!number) throw ConfigError("{}: found '{}', expected a whole number", option, value_);
    value = *number;
  }

 private:
  bool is(std::string_view option) {
    if (option_ != option) return false;
    used_ = true;
    return true;
  }

  int argc_;
  char** argv_;
  std::string_view usage_;
  int at_ = 1;
  std::string_view option_, value_;
  bool used_ = true;
  bool help_requested_ = false;
};

// Calls run(). On an error, prints a message and returns its exit code.
template <typename Run>
int run_main(std::string_view program, const Run& run) {
  try {
    return run();
  } catch (const Error& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return 1;
  }
}

}  // namespace regard::corpus
