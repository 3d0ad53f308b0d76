// The command lines of the generators: options and values in pairs.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "base/error.h"

namespace regard::corpus {

// while (reader.next()) { reader.text("--out", out); reader.number("--seed", seed); }
class OptionReader {
 public:
  OptionReader(int argc, char** argv, std::string_view usage)
      : argc_(argc), argv_(argv), usage_(usage) {}

  // To the next pair. ConfigError where the last was not taken, or has no value. After --help,
  // which prints the usage, there is none.
  bool next() {
    if (!taken_) throw ConfigError("no such option: {}\n{}", option_, usage_);
    if (at_ >= argc_) return false;
    option_ = argv_[at_];
    if (option_ == "--help") {
      fmt::print("{}", usage_);
      wants_help_ = true;
      return false;
    }
    if (at_ + 1 == argc_) {
      throw ConfigError("{}: an option and its value come in pairs\n{}", option_, usage_);
    }
    value_ = argv_[at_ + 1];
    at_ += 2;
    taken_ = false;
    return true;
  }
  bool wants_help() const { return wants_help_; }

  void text(std::string_view option, std::string& value) {
    if (!is(option)) return;
    value = value_;
  }
  template <typename Number>
  void number(std::string_view option, Number& value) {
    if (!is(option)) return;
    const auto* end = value_.data() + value_.size();
    const auto [stop, error] = std::from_chars(value_.data(), end, value);
    if (error != std::errc{} || stop != end) {
      throw ConfigError("{} wants a whole number, found '{}'", option, value_);
    }
  }

 private:
  bool is(std::string_view option) {
    if (option_ != option) return false;
    taken_ = true;
    return true;
  }

  int argc_;
  char** argv_;
  std::string_view usage_;
  int at_ = 1;
  std::string_view option_, value_;
  bool taken_ = true;
  bool wants_help_ = false;
};

// Runs a program's run(), and turns an error into a message and an exit code.
template <typename Run>
int guarded(std::string_view program, const Run& run) {
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
