#include "packer/prepare.h"

#include <fmt/format.h>

#include "codec/image_header.h"
#include "codec/image_name.h"
#include "formats/text.h"
#include "imgpack/error.h"
#include "packer/sources/text.h"

namespace imgpack {

namespace {

void refuse(PreparedEntry& out, std::string reason) {
  out.outcome = PreparedEntry::Outcome::refused;
  out.reason = std::move(reason);
}

/// Failures of this entry alone; others are the machine's and go on.
bool is_entry_failure(ErrorCode code) {
  return code == ErrorCode::refused || code == ErrorCode::not_found || code == ErrorCode::damaged;
}

void take_packed(const RecordMeta& meta, std::size_t classes, PreparedEntry& out) {
  out.meta = meta;
  const bool known = meta.label >= kNoLabel && (classes == 0 || meta.label < static_cast<std::int64_t>(classes));
  if (!known) return refuse(out, fmt::format("its label {} is not one of the {} classes", meta.label, classes));
  if (record_checksum(out.bytes.payload, out.bytes.segments) != meta.checksum) {
    refuse(out, "its bytes do not have its checksum");
  }
}

void look_at_image(std::uint64_t max_pixels, PreparedEntry& out) {
  ImageHeaderResult image = read_image_header(out.bytes.payload, max_pixels);
  if (image.status != ImageHeaderStatus::ok) {
    const bool no_image = image.status == ImageHeaderStatus::unrecognised || image.status == ImageHeaderStatus::empty;
    refuse(out, std::move(image.reason));
    if (no_image && !has_image_name(out.entry.key)) out.outcome = PreparedEntry::Outcome::ignored;
    return;
  }
  out.meta = {.label = out.entry.label,
              .width = image.header.width,
              .height = image.header.height,
              .channels = image.header.channels,
              .codec = image.header.codec};
}

}  // namespace

EntryPreparer::EntryPreparer(const Source& source, const PrepareOptions& options)
    : source_(source), max_pixels_(options.max_pixels) {
  if (options.transform) transformer_.emplace(*options.transform, options.max_pixels);
}

void EntryPreparer::prepare(std::uint64_t index, PreparedEntry& out) {
  out.outcome = PreparedEntry::Outcome::record;
  out.reason.clear();
  out.bytes = {};
  try {
    read(index, out);
    if (out.outcome != PreparedEntry::Outcome::record) return;
    if (transformer_) {
      if (std::string reason = transformer_->apply(out); !reason.empty()) return refuse(out, std::move(reason));
    }
    out.meta.payload_size = out.bytes.payload.size();
    out.meta.segments_size = out.bytes.segments.size();
    out.meta.checksum = record_checksum(out.bytes.payload, out.bytes.segments);
  } catch (const Error& error) {
    if (!is_entry_failure(error.code())) throw;
    refuse(out, error.message());
  }
}

void EntryPreparer::read(std::uint64_t index, PreparedEntry& out) {
  source_.entry(index, out.entry);
  if (!out.entry.problem.empty()) return refuse(out, out.entry.problem);
  if (out.entry.key.size() > kMaxKeyBytes) {
    return refuse(out, fmt::format("its name of {} bytes is too long", out.entry.key.size()));
  }
  if (!is_utf8(out.entry.key)) return refuse(out, "its name is not UTF-8");
  out.bytes = source_.read(out.entry, out.scratch);
  if (const std::optional<RecordMeta> meta = source_.packed_meta(out.entry)) {
    return take_packed(*meta, source_.info().classes.size(), out);
  }
  look_at_image(max_pixels_, out);
}

}  // namespace imgpack
