#include "config/settings.h"

#include "config/options.h"
#include "config/scalar.h"

namespace regard {
namespace {

template <typename T>
std::vector<std::string> values_of() {
  if constexpr (Choice<T>) return choice_names<T>();
  if constexpr (std::same_as<T, bool>) return {"true", "false"};
  return {};
}

template <Section T>
void collect(T& section, const std::string& above, std::vector<Setting>& all) {
  describe(section, [&]<typename Value>(std::string_view name, Value& value, std::string_view help,
                                        Range = {}) {
    const auto key = join_key(above, name);
    if constexpr (Section<Value>) {
      collect(value, key, all);
    } else if constexpr (List<Value>) {
      typename Value::value_type entry;
      collect(entry, join_key(key, "0"), all);
    } else {
      all.push_back({key, std::string(help), values_of<Value>()});
    }
  });
}

}  // namespace

std::vector<Setting> all_settings() {
  Options options;
  std::vector<Setting> all;
  collect(options, "", all);
  return all;
}

}  // namespace regard
