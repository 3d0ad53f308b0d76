// Translates standard input, line by line: translate MODEL [KEY=VALUE…]
#include <regard/model.h>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: translate MODEL [KEY=VALUE...], e.g. translate runs/mine beam_size=10\n";
    return 2;
  }
  try {
    const regard::Model model(argv[1]);
    std::vector<std::string> lines;
    for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
    for (const auto& text : model.translate(lines, {argv + 2, argv + argc})) {
      std::cout << text << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
