#include "formats/record_log.h"

#include <algorithm>
#include <cstring>

#include "formats/byte_reader.h"
#include "formats/checksum.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "mmap/paths.h"

namespace imgpack {

namespace {

// File: magic (8 bytes), fingerprint length u32, fingerprint, XXH3-64 of all before; then rows.
// Row: body length u32, type u8, body, XXH3-64 of all before in the row.
constexpr std::string_view kMagic = "IMGPLOG1";
constexpr std::size_t kMaxFingerprint = 1u << 16;
constexpr std::size_t kRowHead = 5;
constexpr std::size_t kRowTail = 8;
constexpr std::size_t kMaxBody = 1u << 30;
constexpr std::size_t kWindow = 1u << 20;
constexpr std::size_t kMaxSplitRanges = 4096;
constexpr std::uint8_t kRecordRow = 1;
constexpr std::uint8_t kLeftOutRow = 2;
constexpr std::uint8_t kSealRow = 3;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void append_bytes(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  const std::size_t at = out.size();
  out.resize(at + bytes.size());
  std::ranges::copy(bytes, out.begin() + static_cast<std::ptrdiff_t>(at));
}

void append_sized(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  append_le(out, static_cast<std::uint32_t>(bytes.size()));
  append_bytes(out, bytes);
}

std::vector<std::byte> encode_head(std::string_view fingerprint) {
  std::vector<std::byte> head;
  append_bytes(head, bytes_of(kMagic));
  append_sized(head, bytes_of(fingerprint));
  append_le(head, checksum_of(head));
  return head;
}

void count_row(LogTotals& totals, const LogRow& row) {
  auto& ranges = totals.split_ranges;
  if (ranges.empty() || ranges.back().split != row.split) {
    if (ranges.size() == kMaxSplitRanges) {
      throw Error(ErrorCode::refused,
                  "the records of a split must follow one another: there are too many changes of split");
    }
    ranges.push_back({.split = row.split, .begin = totals.records, .end = totals.records});
  }
  ranges.back().end = ++totals.records;
  totals.payload_bytes += row.meta.payload_size;
  totals.segment_bytes += row.meta.segments_size;
  totals.pixels += std::uint64_t{row.meta.width} * row.meta.height;
  totals.key_bytes += row.key.size();
  totals.content_digest.add(row.key, row.meta.label, row.meta.checksum);
  totals.field_bytes.resize(std::max(totals.field_bytes.size(), row.fields.size()));
  for (std::size_t i = 0; i < row.fields.size(); ++i) totals.field_bytes[i] += row.fields[i].size();
}

void count_row(LogTotals& totals, const LogLeftOut& row) {
  ++totals.left_out;
  if (row.ignored) ++totals.ignored;
  if (totals.first_left_out.size() < DatasetInfo::kMaxLeftOut) {
    totals.first_left_out.push_back(
        {.key = std::string(row.key), .reason = std::string(row.reason), .ignored = row.ignored});
  }
}

std::size_t head_size(std::string_view fingerprint) {
  return kMagic.size() + 4 + fingerprint.size() + 8;
}

}  // namespace

RecordLog::RecordLog(File& file, std::uint64_t end) : file_(&file), out_(file, end, 256u << 10) {}

RecordLog RecordLog::start(File& file, std::string_view fingerprint) {
  if (fingerprint.size() > kMaxFingerprint) throw Error(ErrorCode::invalid_argument, "the fingerprint is too long");
  RecordLog log(file, 0);
  log.out_.append(encode_head(fingerprint));
  log.out_.flush();
  return log;
}

std::optional<std::string> RecordLog::read_fingerprint(const File& file) {
  std::vector<std::byte> head(kMagic.size() + 4);
  if (file.read_some_at(0, head) != head.size()) return std::nullopt;
  if (std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0) return std::nullopt;
  const auto size = load_le<std::uint32_t>(head.data() + kMagic.size());
  if (size > kMaxFingerprint) return std::nullopt;
  std::vector<std::byte> rest(size + 8);
  if (file.read_some_at(head.size(), rest) != rest.size()) return std::nullopt;
  std::string fingerprint(reinterpret_cast<const char*>(rest.data()), size);
  const std::vector<std::byte> expected = encode_head(fingerprint);
  if (load_le<std::uint64_t>(rest.data() + size) != load_le<std::uint64_t>(expected.data() + expected.size() - 8)) {
    return std::nullopt;
  }
  return fingerprint;
}

bool RecordLog::may_be_torn_log(const File& file) {
  constexpr std::string_view kAnyVersion = kMagic.substr(0, 7);
  std::byte head[kMagic.size()] = {};
  file.read_some_at(0, head);
  const bool zeros = std::all_of(std::begin(head), std::end(head), [](std::byte byte) { return byte == std::byte{0}; });
  return zeros || std::memcmp(head, kAnyVersion.data(), kAnyVersion.size()) == 0;
}

RecordLog RecordLog::resume(File& file, std::uint64_t records) {
  RecordLogReader reader(file);
  std::uint64_t end = reader.offset();
  LogTotals totals;
  for (auto kind = reader.next(); kind != RecordLogReader::Kind::end; kind = reader.next()) {
    if (kind == RecordLogReader::Kind::record) {
      if (totals.records == records) break;
      count_row(totals, reader.record());
    } else if (kind == RecordLogReader::Kind::left_out) {
      count_row(totals, reader.left_out());
    } else {
      break;
    }
    end = reader.offset();
  }
  if (totals.records < records) {
    throw Error(ErrorCode::invalid_argument, "the log has fewer records than it is to keep");
  }
  RecordLog log(file, end);
  log.totals_ = std::move(totals);
  return log;
}

std::optional<RecordLog> RecordLog::resume_sealed(File& file) {
  RecordLogReader reader(file);
  LogTotals totals;
  while (true) {
    switch (reader.next()) {
      case RecordLogReader::Kind::record:
        count_row(totals, reader.record());
        break;
      case RecordLogReader::Kind::left_out:
        count_row(totals, reader.left_out());
        break;
      case RecordLogReader::Kind::end:
        return std::nullopt;
      case RecordLogReader::Kind::sealed: {
        RecordLog log(file, reader.offset());
        log.totals_ = std::move(totals);
        log.sealed_ = true;
        return log;
      }
    }
  }
}

void RecordLog::append_framed(std::uint8_t type) {
  if (body_.size() > kMaxBody)
    throw Error(ErrorCode::invalid_argument, "a record's key and fields are larger than 1 GiB");
  std::byte head[kRowHead];
  store_le(head, static_cast<std::uint32_t>(body_.size()));
  head[4] = std::byte{type};
  Checksummer checksummer;
  checksummer.update(head);
  checksummer.update(body_);
  std::byte tail[kRowTail];
  store_le(tail, checksummer.value());
  out_.append(head);
  out_.append(body_);
  out_.append(tail);
}

void RecordLog::append(const LogRow& row) {
  body_.clear();
  append_le(body_, row.meta.label);
  append_le(body_, row.meta.width);
  append_le(body_, row.meta.height);
  append_le(body_, row.meta.channels);
  append_le(body_, static_cast<std::uint8_t>(row.meta.codec));
  append_le(body_, row.meta.payload_size);
  append_le(body_, row.meta.segments_size);
  append_le(body_, row.meta.checksum);
  append_le(body_, row.split);
  append_le(body_, row.payload_offset);
  append_le(body_, row.segments_offset);
  append_le(body_, row.frame_offset);
  append_le(body_, row.frame_size);
  append_sized(body_, bytes_of(row.key));
  append_le(body_, static_cast<std::uint32_t>(row.fields.size()));
  for (const std::string_view field : row.fields) append_sized(body_, bytes_of(field));
  append_sized(body_, row.segments);
  append_framed(kRecordRow);
  count_row(totals_, row);
}

void RecordLog::append(const LogLeftOut& row) {
  body_.clear();
  append_sized(body_, bytes_of(row.key));
  append_sized(body_, bytes_of(row.reason));
  append_le(body_, static_cast<std::uint8_t>(row.ignored));
  append_framed(kLeftOutRow);
  count_row(totals_, row);
}

void RecordLog::flush() {
  out_.flush();
}

void RecordLog::seal() {
  body_.clear();
  append_framed(kSealRow);
  out_.flush();
  file_->sync();
  sealed_ = true;
}

RecordLogReader::RecordLogReader(const File& file) : file_(file) {
  const std::optional<std::string> fingerprint = RecordLog::read_fingerprint(file);
  if (!fingerprint) {
    throw Error(ErrorCode::damaged, "this is no build log of this version of imgpack", in_file(file.path()));
  }
  offset_ = head_size(*fingerprint);
}

std::span<const std::byte> RecordLogReader::read(std::size_t size) {
  const bool inside = offset_ >= window_offset_ && offset_ + size <= window_offset_ + filled_;
  if (!inside) {
    buffer_.resize(std::max(size, kWindow));
    window_offset_ = offset_;
    filled_ = file_.read_some_at(offset_, buffer_);
    if (filled_ < size) return {};
  }
  return std::span<const std::byte>(buffer_).subspan(static_cast<std::size_t>(offset_ - window_offset_), size);
}

RecordLogReader::Kind RecordLogReader::next() {
  const std::span<const std::byte> head = read(kRowHead);
  if (head.size() != kRowHead) return Kind::end;
  const auto body_size = load_le<std::uint32_t>(head.data());
  if (body_size > kMaxBody) return Kind::end;
  const std::span<const std::byte> row = read(kRowHead + body_size + kRowTail);
  if (row.empty()) return Kind::end;
  const std::span<const std::byte> covered = row.first(kRowHead + body_size);
  if (checksum_of(covered) != load_le<std::uint64_t>(row.data() + covered.size())) return Kind::end;
  const auto type = static_cast<std::uint8_t>(row[4]);
  const std::span<const std::byte> body = covered.subspan(kRowHead);
  Kind kind = Kind::end;
  if (type == kRecordRow && parse_record(body)) kind = Kind::record;
  if (type == kLeftOutRow && parse_left_out(body)) kind = Kind::left_out;
  if (type == kSealRow) kind = Kind::sealed;
  if (kind != Kind::end) offset_ += row.size();
  return kind;
}

bool RecordLogReader::parse_record(std::span<const std::byte> body) {
  ByteReader in(body);
  row_.meta.label = in.read<std::int64_t>();
  row_.meta.width = in.read<std::uint32_t>();
  row_.meta.height = in.read<std::uint32_t>();
  row_.meta.channels = in.read<std::uint8_t>();
  row_.meta.codec = codec_from_number(in.read<std::uint8_t>()).value_or(Codec::unknown);
  row_.meta.payload_size = in.read<std::uint64_t>();
  row_.meta.segments_size = in.read<std::uint64_t>();
  row_.meta.checksum = in.read<std::uint64_t>();
  row_.split = in.read<std::uint32_t>();
  row_.payload_offset = in.read<std::uint64_t>();
  row_.segments_offset = in.read<std::uint64_t>();
  row_.frame_offset = in.read<std::uint64_t>();
  row_.frame_size = in.read<std::uint64_t>();
  row_.key = in.take_text(in.read<std::uint32_t>());
  fields_.clear();
  const auto fields = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < fields && in.ok(); ++i) fields_.push_back(in.take_text(in.read<std::uint32_t>()));
  row_.fields = fields_;
  row_.segments = in.take(in.read<std::uint32_t>());
  return in.ok() && in.remaining() == 0;
}

bool RecordLogReader::parse_left_out(std::span<const std::byte> body) {
  ByteReader in(body);
  left_out_.key = in.take_text(in.read<std::uint32_t>());
  left_out_.reason = in.take_text(in.read<std::uint32_t>());
  left_out_.ignored = in.read<std::uint8_t>() != 0;
  return in.ok() && in.remaining() == 0;
}

}  // namespace imgpack
