#include "config/keys.h"

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
void collect_settings(T& section, const std::string& above, std::vector<Setting>& all) {
  describe(section, [&]<typename Value>(std::string_view name, Value& value, std::string_view help,
                                        Range = {}) {
    const auto key = join_key(above, name);
    if constexpr (Section<Value>) {
      collect_settings(value, key, all);
    } else if constexpr (List<Value>) {
      typename Value::value_type entry;
      collect_settings(entry, join_key(key, "0"), all);
    } else {
      all.push_back({key, std::string(help), values_of<Value>()});
    }
  });
}

template <Section T>
void collect_keys(T& section, const std::string& key, std::vector<std::string>& keys) {
  describe(section, [&](std::string_view name, auto& field, auto&&...) {
    using Field = std::remove_reference_t<decltype(field)>;
    const std::string full = join_key(key, name);
    keys.push_back(full);
    if constexpr (Section<Field>) {
      collect_keys(field, full, keys);
    } else if constexpr (List<Field>) {
      typename Field::value_type entry;
      collect_keys(entry, join_key(full, "0"), keys);
    }
  });
}

}  // namespace

std::vector<Setting> all_settings() {
  Options options;
  std::vector<Setting> all;
  collect_settings(options, "", all);
  return all;
}

std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  Options options;
  collect_keys(options, "", keys);
  return keys;
}

}  // namespace regard
