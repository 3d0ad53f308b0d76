#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cli/run.h"

namespace regard::export_test {
namespace {

using testing::HasSubstr;

// Runs `regard export` with this program in place of Python.
Finished run_with(const std::string& python, const Words& arguments) {
  setenv("REGARD_PYTHON", python.c_str(), 1);
  auto finished = run(Words{"export"} + arguments);
  unsetenv("REGARD_PYTHON");
  return finished;
}

std::string script(const std::string& text) {
  const auto path = fresh_folder() / "python";
  write_text(path, "#!/bin/sh\n" + text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

TEST(Export, PassesItsArgumentsToPythonAndReturnsItsExitCode) {
  const auto python = script("shift 2\nprintf '%s\\n' \"$@\"\nexit 5\n");
  const auto finished = run_with(python, {"-run", "--to", "ctranslate2", "-o", "out folder",
                                          "--quantization", "int8", "--force"});
  EXPECT_EQ(finished.code, 2);  // -run is no option
  const auto exported = run_with(python, {"runs/a b", "--to", "ctranslate2", "-o", "out folder",
                                          "--quantization", "int8", "--force"});
  EXPECT_EQ(exported.code, 5);
  EXPECT_EQ(lines_of(exported.out), (Words{"--to=ctranslate2", "--output=out folder",
                                           "--quantization=int8", "--force", "--", "runs/a b"}));
}

TEST(Export, MissingPythonIsAnEnvironmentError) {
  const auto finished = run_with("/no/python", {"run", "--to", "onnx", "-o", "out"});
  EXPECT_EQ(finished.code, 6);
  EXPECT_THAT(finished.err, HasSubstr("/no/python: No such file or directory"));
}

TEST(Export, PythonWithoutThePackageIsAnEnvironmentError) {
  const auto python = script("exec python3 -I \"$@\"\n");  // -I: without PYTHONPATH
  const auto finished = run_with(python, {"run", "--to", "onnx", "-o", "out"});
  EXPECT_EQ(finished.code, 6);
  EXPECT_THAT(finished.err, HasSubstr("No module named 'regard'"));
  EXPECT_THAT(finished.err, HasSubstr("REGARD_PYTHON"));
  EXPECT_THAT(finished.err, testing::Not(HasSubstr("Traceback")));
}

}  // namespace
}  // namespace regard::export_test
