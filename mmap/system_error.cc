#include "mmap/system_error.h"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "mmap/paths.h"

namespace imgpack {

namespace {

ErrorCode code_of(int number) {
  switch (number) {
    case ENOENT:
      return ErrorCode::not_found;
    case EEXIST:
      return ErrorCode::already_exists;
    case ENOMEM:
      return ErrorCode::out_of_memory;
    default:
      return ErrorCode::io;
  }
}

}  // namespace

Error system_error(int number, std::string_view what, const std::filesystem::path& path,
                   std::optional<std::uint64_t> offset) {
  return Error(code_of(number), fmt::format("cannot {}: {}", what, std::generic_category().message(number)),
               in_file(path, offset));
}

}  // namespace imgpack
