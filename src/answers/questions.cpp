#include "answers/questions.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <iostream>

#include "base/error.h"

namespace regard {

bool can_ask() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

std::string ask(const std::string& question, const std::string& proposed) {
  std::cerr << question << (proposed.empty() ? "" : fmt::format(" [{}]", proposed)) << ": ";
  std::string answer;
  if (!std::getline(std::cin, answer)) {
    std::cerr << '\n';
    throw EnvironmentError("no answer: the input has ended");
  }
  const auto begin = answer.find_first_not_of(" \t");
  if (begin == std::string::npos) return proposed;
  return answer.substr(begin, answer.find_last_not_of(" \t\r") + 1 - begin);
}

std::int64_t ask_number(const std::string& question, std::int64_t proposed) {
  for (;;) {
    const auto answer = ask(question, std::to_string(proposed));
    std::int64_t number = 0;
    const auto* end = answer.data() + answer.size();
    const auto parsed = std::from_chars(answer.data(), end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end && number >= 0) return number;
    std::cerr << fmt::format("found `{}`, wanted a whole number, at least 0\n", answer);
  }
}

}  // namespace regard
