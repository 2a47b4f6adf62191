#include "reader/record_error.h"

#include <fmt/format.h>

namespace imgpack {

namespace {

ErrorCode code_of(ImageStatus status) noexcept {
  switch (status) {
    case ImageStatus::unsupported:
      return ErrorCode::unsupported;
    case ImageStatus::too_large:
      return ErrorCode::out_of_memory;
    default:
      return ErrorCode::damaged;
  }
}

}  // namespace

Error record_error(const StoreReader& store, std::uint64_t record, const ImageResult& result) {
  return record_error(store, record, code_of(result.status), result.reason);
}

Error record_error(const StoreReader& store, std::uint64_t record, ErrorCode code, std::string reason) {
  try {
    const PayloadPlace place = store.place(record);
    reason += fmt::format(" (its key is {})", store.key(record));
    return Error(code, std::move(reason),
                 {.file = place.file->native(), .record = place.record, .offset = place.offset});
  } catch (const Error& error) {  // what tells its place is damaged as well
    return Error(code, std::move(reason),
                 {.file = error.place().file, .record = error.place().record, .offset = error.place().offset});
  }
}

Damage damage_of(const Error& error) {
  return {.file = error.place().file,
          .record = error.place().record,
          .offset = error.place().offset,
          .what = error.message()};
}

}  // namespace imgpack
