#include "training/examples.h"

#include <algorithm>

#include "base/log.h"

namespace regard {

void log_examples(const Validator& validator, const std::vector<std::string>& translations,
                  std::int64_t count) {
  const auto size = static_cast<std::int64_t>(translations.size());
  const auto shown = std::min(count, size);
  for (std::int64_t k = 0; k < shown; ++k) {
    const auto i = static_cast<std::size_t>((2 * k + 1) * size / (2 * shown));
    log::info("  source     {}", validator.sources()[i]);
    log::info("  reference  {}", validator.references()[i]);
    log::info("  model      {}", translations[i]);
    if (k + 1 < shown) log::info("");
  }
}

}  // namespace regard
