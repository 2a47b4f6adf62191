#include "imgpack/error.h"

#include <utility>

#include <fmt/format.h>

namespace imgpack {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::already_exists:
      return "already_exists";
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::refused:
      return "refused";
    case ErrorCode::damaged:
      return "damaged";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::io:
      return "io";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
  }
  return "unknown";
}

Error::Error(ErrorCode code, std::string message, ErrorPlace place)
    : code_(code), message_(std::move(message)), place_(std::move(place)) {
  if (!place_.file.empty()) what_ += place_.file + ": ";
  if (place_.record) what_ += fmt::format("record {}: ", *place_.record);
  if (place_.offset) what_ += fmt::format("offset {}: ", *place_.offset);
  what_ += message_;
}

}  // namespace imgpack
