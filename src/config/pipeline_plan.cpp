#include "config/pipeline_plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/suggest.h"
#include "config/yaml_file.h"
#include "config/yaml_reader.h"

namespace regard {
namespace {

int line_of(const YAML::Node& node) {
  return std::max(node.Mark().line, 0) + 1;
}

class PlanReader {
 public:
  PlanReader(const std::filesystem::path& path, const std::vector<std::string>& assignments) {
    plan_.path = path.string();
    const auto root = load();
    if (!root.IsMap()) mismatch(root, "a mapping with `variables` and `steps`");
    YAML::Node variables, steps;
    for (const auto& entry : root) {
      const auto& name = entry.first.Scalar();
      if (name != "variables" && name != "steps") {
        fail(line_of(entry.first), "unknown key `{}`; expected `variables` and `steps`{}", name,
             did_you_mean(name, {"variables", "steps"}));
      }
      (name == "steps" ? steps : variables).reset(entry.second);
    }
    if (!variables.IsMap()) mismatch(variables, "a mapping `variables` with at least `out`");
    if (!steps.IsMap()) mismatch(steps, "a mapping `steps` of named steps");
    const auto folder = path.parent_path().string();
    variables_["plan"] = folder.empty() ? "." : folder;
    read_variables(variables, assignments);
    std::vector<YAML::Node> commands;
    for (const auto& entry : steps) {
      auto name = new_name(entry.first);
      plan_.steps.push_back({std::move(name), line_of(entry.first), {}, {}});
      commands.push_back(entry.second);
    }
    for (std::size_t i = 0; i < commands.size(); ++i) read_words(commands[i], plan_.steps[i]);
    sort_steps();
  }

  PipelinePlan plan() { return std::move(plan_); }

 private:
  template <typename... Args>
  [[noreturn]] void fail(int line, fmt::format_string<Args...> format, Args&&... args) const {
    throw ConfigError("{}:{}: {}", plan_.path, line,
                      fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void mismatch(const YAML::Node& node, std::string_view expected) const {
    fail(line_of(node), "found {}, expected {}", node_text(node), expected);
  }

  YAML::Node load() const {
    const auto text = read_file<ConfigError>(plan_.path, "plan", max_yaml_bytes);
    try {
      return load_yaml(text, plan_.path);
    } catch (const ConfigError& error) {
      if (text.find("${") == std::string::npos) throw;
      throw ConfigError("{}; a text with ${{…}} inside [ ] needs quotes", error.what());
    }
  }

  bool is_step(const std::string& name) const {
    return std::ranges::count(plan_.steps, name, &PlannedStep::name) > 0;
  }

  // Returns the name of a variable or step, which must not be in use.
  std::string new_name(const YAML::Node& key) const {
    const auto& name = key.Scalar();
    if (name.empty() || name[0] == '.' || name[0] == '-' ||
        name.find_first_of("/{}$= \t\n") != std::string::npos) {
      fail(line_of(key),
           "found {}, expected a name without blanks and / {{ }} $ =", node_text(key));
    }
    if (variables_.contains(name) || is_step(name)) {
      fail(line_of(key), "found {} twice, expected one variable or step of this name", name);
    }
    return name;
  }

  void read_variables(const YAML::Node& variables, const std::vector<std::string>& assignments) {
    std::map<std::string, std::string> given;
    for (const auto& assignment : assignments) {
      const auto equals = assignment.find('=');
      if (equals == std::string::npos) {
        throw ConfigError("command line: found {}, expected VARIABLE=VALUE, such as out=runs/mine",
                          assignment);
      }
      given[assignment.substr(0, equals)] = assignment.substr(equals + 1);
    }
    std::vector<std::string> names;
    for (const auto& entry : variables) {
      const YAML::Node& value = entry.second;
      names.push_back(new_name(entry.first));
      if (!value.IsNull() && !value.IsScalar()) mismatch(value, "a single value");
      auto& variable = variables_[names.back()];
      if (const auto assigned = given.extract(names.back())) {
        variable = assigned.mapped();
      } else if (value.IsScalar()) {
        variable = expand(value.Scalar(), line_of(value), nullptr);
      }
    }
    if (!given.empty()) throw unknown_name("variable", given.begin()->first, names);
    plan_.out = expand("${out}", line_of(variables), nullptr);
    while (plan_.out.size() > 1 && plan_.out.ends_with('/')) plan_.out.pop_back();
    if (plan_.out.empty()) throw ConfigError("command line: out=: found no folder, expected one");
  }

  // Replaces each ${NAME}. Adds the steps to which the text refers to `step`.
  std::string expand(const std::string& text, int line, PlannedStep* step) const {
    std::string expanded;
    std::size_t at = 0;
    for (std::size_t open = 0; (open = text.find("${", at)) != std::string::npos;) {
      const auto close = text.find('}', open);
      if (close == std::string::npos) fail(line, "found {}, expected a }} after ${{", text);
      expanded += text.substr(at, open - at);
      expanded += value_of(text.substr(open + 2, close - open - 2), line, step);
      at = close + 1;
    }
    return expanded + text.substr(at);
  }

  std::string value_of(const std::string& name, int line, PlannedStep* step) const {
    if (const auto variable = variables_.find(name); variable != variables_.end()) {
      if (variable->second) return *variable->second;
      fail(line, "found no value of the variable {0}; add {0}=VALUE to the command line", name);
    }
    if (!is_step(name)) {
      std::vector<std::string> known;
      for (const auto& [variable, value] : variables_) known.push_back(variable);
      for (const auto& other : plan_.steps) known.push_back(other.name);
      fail(line, "unknown variable or step `{}`; expected one of {}{}", name,
           fmt::join(known, ", "), did_you_mean(name, known));
    }
    step->needs.insert(name);
    return plan_.out + "/" + name;
  }

  void read_words(const YAML::Node& node, PlannedStep& step) const {
    const auto is_scalar = [](const YAML::Node& part) { return part.IsScalar(); };
    if (node.IsScalar()) {
      std::istringstream words(node.Scalar());
      for (std::string word; words >> word;) step.words.push_back(expand(word, step.line, &step));
    } else if (node.IsSequence() && std::all_of(node.begin(), node.end(), is_scalar)) {
      for (const auto& word : node) {
        step.words.push_back(expand(word.Scalar(), line_of(word), &step));
      }
    }
    if (!step.words.empty()) return;
    fail(step.line,
         "{}: found {}, expected a command as text or as a list of words, such as "
         "`train -c mine.yaml`",
         step.name, node_text(node));
  }

  // Puts each step after those that it needs.
  void sort_steps() {
    std::vector<PlannedStep> rest = std::exchange(plan_.steps, {});
    while (!rest.empty()) {
      const auto ready = std::ranges::find_if(rest, [&](const PlannedStep& step) {
        return std::ranges::all_of(step.needs, [&](auto& need) { return is_step(need); });
      });
      if (ready == rest.end()) {
        std::vector<std::string> names;
        for (const auto& step : rest) names.push_back(step.name);
        fail(rest[0].line, "found a cycle among {}, expected steps that need only earlier ones",
             fmt::join(names, ", "));
      }
      plan_.steps.push_back(std::move(*ready));
      rest.erase(ready);
    }
  }

  PipelinePlan plan_;
  std::map<std::string, std::optional<std::string>> variables_;
};

}  // namespace

PipelinePlan read_plan(const std::filesystem::path& path,
                       const std::vector<std::string>& assignments) {
  return PlanReader(path, assignments).plan();
}

}  // namespace regard
