// Failed system calls as Errors.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "imgpack/error.h"

namespace imgpack {

/// The Error for errno value `number` of an operation on `path`: not_found for ENOENT, already_exists for EEXIST,
/// out_of_memory for ENOMEM, io for the rest. "FILE: cannot WHAT: No space left on device".
Error system_error(int number, std::string_view what, const std::filesystem::path& path,
                   std::optional<std::uint64_t> offset = std::nullopt);

}  // namespace imgpack
