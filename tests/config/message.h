// The message of the ConfigError that a call throws, for tests of what messages say.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace regard {

template <typename Call>
std::string config_error(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

}  // namespace regard
