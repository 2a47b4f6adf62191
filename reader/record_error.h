// What is wrong with one record, as an Error and as Damage.
#pragma once

#include <cstdint>
#include <string>

#include "codec/image_result.h"
#include "imgpack/error.h"
#include "imgpack/store.h"

namespace imgpack {

/// REQUIRES: result is not ok. damaged, unsupported or out_of_memory, with the file, the record's number in it and the
/// offset of its payload.
Error record_error(const StoreReader& store, std::uint64_t record, const ImageResult& result);

/// The same with a code and a reason of the caller's.
Error record_error(const StoreReader& store, std::uint64_t record, ErrorCode code, std::string reason);

/// The error's place and reason.
Damage damage_of(const Error& error);

}  // namespace imgpack
