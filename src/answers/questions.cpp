#include "answers/questions.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <iostream>

#include "base/error.h"

namespace regard {
namespace {

// What is typed, without blanks around it.
std::string ask_once(const std::string& question, const std::string& proposed) {
  std::cerr << question << (proposed.empty() ? "" : fmt::format(" [{}]", proposed)) << ": ";
  std::string answer;
  if (!std::getline(std::cin, answer)) {
    std::cerr << '\n';
    throw EnvironmentError("no answer: the input has ended");
  }
  const auto begin = answer.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return proposed;
  return answer.substr(begin, answer.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace

bool can_ask() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

std::string ask(const std::string& question, const std::string& proposed, const Accept& accept) {
  for (;;) {
    auto answer = ask_once(question, proposed);
    try {
      accept(answer);
      return answer;
    } catch (const Error& error) {
      std::cerr << error.what() << '\n';
    }
  }
}

std::int64_t ask_number(const std::string& question, std::int64_t proposed, std::int64_t most) {
  std::int64_t number = 0;
  ask(question, std::to_string(proposed), [&](const std::string& answer) {
    const auto* end = answer.data() + answer.size();
    const auto parsed = std::from_chars(answer.data(), end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end && number >= 0 && number <= most) return;
    throw ConfigError("found `{}`, expected a whole number from 0 to {}", answer, most);
  });
  return number;
}

}  // namespace regard
