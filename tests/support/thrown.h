// What an action throws, for tests that look at it.
#pragma once

#include <doctest/doctest.h>

#include "imgpack/error.h"

namespace imgpack::testing {

/// The Error that `action` throws; without one the test fails.
Error error_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  FAIL("nothing was thrown");
  return Error(ErrorCode::io, "");
}

ErrorCode code_of(const auto& action) {
  return error_of(action).code();
}

}  // namespace imgpack::testing
