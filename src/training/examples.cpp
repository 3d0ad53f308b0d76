#include "training/examples.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace regard {

std::vector<std::size_t> spread(std::size_t lines, std::size_t count) {
  const auto shown = std::min(count, lines);
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < shown; ++k) chosen.push_back((2 * k + 1) * lines / (2 * shown));
  return chosen;
}

void log_examples(const Validator& validator, const std::vector<std::string>& translations,
                  std::int64_t count) {
  bool first = true;
  for (const auto i : spread(translations.size(), static_cast<std::size_t>(count))) {
    if (!std::exchange(first, false)) log::info("");
    log::info("  source     {}", validator.sources()[i]);
    log::info("  reference  {}", validator.references()[i]);
    log::info("  model      {}", translations[i]);
  }
}

}  // namespace regard
