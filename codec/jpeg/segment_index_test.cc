// Indexes of valid files of all kinds, and which files get none. What opening refuses is in segment_format_test.cc.
#include "codec/jpeg/segment_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "codec/header_samples.h"
#include "codec/jpeg/crop_decoder.h"
#include "codec/jpeg/index_builder.h"
#include "codec/jpeg/jpeg_test_support.h"
#include "codec/jpeg/libjpeg.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::jpeg;
using namespace imgpack::jpeg::testing;
using namespace imgpack::testing;
using namespace std::string_view_literals;

namespace {

Indexability verdict(std::span<const std::byte> file) {
  IndexBuilder builder;
  ByteBuffer index;
  const Indexability result = builder.build(file, {}, index);
  CHECK((index.size() != 0) == (result == Indexability::indexable));
  return result;
}

/// Position of the first marker `marker`, from `from` on.
std::ptrdiff_t find_marker(const Bytes& file, std::uint8_t marker, std::size_t from = 2) {
  const std::byte wanted[2] = {std::byte{0xff}, static_cast<std::byte>(marker)};
  const auto at = std::search(file.begin() + static_cast<std::ptrdiff_t>(from), file.end(), wanted, wanted + 2);
  REQUIRE(at != file.end());
  return at - file.begin();
}

Bytes with(const Bytes& file, std::ptrdiff_t at, const Bytes& inserted) {
  Bytes result = file;
  result.insert(result.begin() + at, inserted.begin(), inserted.end());
  return result;
}

/// Without the marker segment that begins at `at`.
Bytes without_segment(const Bytes& file, std::ptrdiff_t at) {
  const auto place = static_cast<std::size_t>(at);
  const int length = std::to_integer<int>(file[place + 2]) << 8 | std::to_integer<int>(file[place + 3]);
  Bytes result = file;
  result.erase(result.begin() + at, result.begin() + at + 2 + length);
  return result;
}

/// Whether the DC predictors of each segment are the coefficients before it, as libjpeg-turbo reads them.
bool predictors_are_right(const SegmentIndex& index, const std::vector<Coefficients>& coefficients) {
  const Frame& frame = index.frame;
  const std::uint32_t per_row = index.segments_per_row();
  for (std::uint32_t segment = 0; segment < index.segment_count(); ++segment) {
    const std::uint32_t mcu = segment / per_row * frame.mcus_per_row() + segment % per_row * index.segment_mcus;
    const bool fresh = mcu == 0 || (frame.restart_interval != 0 && mcu % frame.restart_interval == 0);
    for (std::uint32_t c = 0; c < frame.component_count; ++c) {
      const Component& component = frame.components[c];
      const std::uint32_t x = fresh ? 0 : ((mcu - 1) % frame.mcus_per_row() + 1) * component.h - 1;
      const std::uint32_t y = fresh ? 0 : ((mcu - 1) / frame.mcus_per_row() + 1) * component.v - 1;
      if (index.start(segment).dc[c] != (fresh ? 0 : coefficients[c].dc(x, y))) return false;
    }
  }
  return true;
}

/// The file with nothing but EOI behind its scan.
Bytes up_to_scan_end(std::span<const std::byte> file, const Frame& frame) {
  const std::span<const std::byte> kept = file.first(frame.scan_offset + frame.scan_size);
  return concatenated({{kept.begin(), kept.end()}, bytes_of("\xff\xd9"sv)});
}

/// Whether the index of `file` opens, says what libjpeg-turbo says, and leads to its pixels without a complaint.
bool round_trips(std::span<const std::byte> file, const IndexOptions& options = {}) {
  const Bytes bytes = index_of(file, options);
  SegmentIndex index;
  if (open_segment_index(bytes, file, index) != IndexStatus::ok) return false;
  const Reference reference = decode_rgb(file);
  if (!reference.ok || reference.size != Size{index.frame.width, index.frame.height}) return false;
  if (!predictors_are_right(index, read_coefficients(up_to_scan_end(file, index.frame)))) return false;
  for (std::uint32_t segment = 1; segment < index.segment_count(); ++segment) {
    if (index.start(segment).bit <= index.start(segment - 1).bit) return false;
  }
  CropDecoder decoder;
  RgbImage image;
  const Rect whole{0, 0, index.frame.width, index.frame.height};
  const DecodeReport report = decoder.decode(file, index, whole, image.resize(reference.size));
  return report.ok() && report.segments == index.segment_count() && reference.equals(image.view(), whole);
}

}  // namespace

TEST_CASE("every subsampling that libjpeg-turbo writes") {
  std::uint32_t seed = 0;
  for (const auto& sampling : all_samplings()) {
    for (const JpegColor color : {JpegColor::ycbcr, JpegColor::rgb}) {
      JpegOptions options;
      options.sampling = sampling;
      options.color = color;
      options.noise = 100;
      for (const Size size : {Size{1, 1}, Size{3, 5}, Size{33, 17}, Size{64, 64}, Size{150, 70}}) {
        CAPTURE(size.width);
        CAPTURE(&sampling - all_samplings().data());
        const Bytes file = make_jpeg(static_cast<int>(size.width), static_cast<int>(size.height), ++seed, options);
        CHECK(round_trips(file));
        CHECK(round_trips(file, {.segment_mcus = 1}));
      }
    }
  }
}

TEST_CASE("gray images have MCUs of one block, whatever their sampling factors are") {
  JpegOptions options;
  options.gray = true;
  for (const JpegSampling sampling : {JpegSampling{1, 1}, JpegSampling{2, 2}, JpegSampling{4, 4}, JpegSampling{1, 3}}) {
    options.sampling = {sampling};
    CHECK(round_trips(make_jpeg(77, 45, 5, options)));
  }
}

TEST_CASE("all sizes up to a few MCUs") {
  Random random(3);
  for (int width = 1; width <= 70; ++width) {
    for (const int height : {1, 2, 7, 8, 9, 16, 17, 33, 1 + width * 7 % 70}) {
      CAPTURE(width);
      CAPTURE(height);
      CHECK(round_trips(make_jpeg(width, height, random(), random_options(random)),
                        {.segment_mcus = static_cast<std::uint32_t>(random() % 5)}));
    }
  }
}

TEST_CASE("restart intervals that divide rows of MCUs, and those that don't") {
  for (const unsigned interval : {1u, 2u, 3u, 5u, 7u, 13u, 14u, 26u, 100u, 65535u}) {
    JpegOptions options;
    options.restart_interval = interval;
    for (const std::uint32_t segment_mcus : {0u, 1u, 2u, 3u, 13u}) {
      CAPTURE(interval);
      CAPTURE(segment_mcus);
      CHECK(round_trips(make_jpeg(13 * 16, 70, 9, options), {.segment_mcus = segment_mcus}));
    }
  }
}

TEST_CASE("images as wide or as high as JPEG allows") {
  JpegOptions options;
  CHECK(round_trips(make_jpeg(65500, 3, 1, options)));
  CHECK(round_trips(make_jpeg(3, 65500, 2, options)));
  options.sampling = {{1, 1}, {1, 1}, {1, 1}};
  CHECK(round_trips(make_jpeg(65500, 9, 3, options), {.segment_mcus = 8187}));
  options.restart_interval = 1;
  CHECK(round_trips(make_jpeg(65499, 9, 4, options)));
}

TEST_CASE("a scan that ends with a stuffed byte") {
  JpegOptions options;
  options.quality = 100;
  options.noise = 256;
  options.gray = true;
  int found = 0;
  for (std::uint32_t seed = 0; seed < 3000 && found < 5; ++seed) {
    const Bytes file = make_jpeg(8, 8, seed, options);
    if (file[file.size() - 3] != std::byte{0} || file[file.size() - 4] != std::byte{0xff}) continue;
    ++found;
    CAPTURE(seed);
    CHECK(round_trips(file));
  }
  CHECK(found > 0);
}

TEST_CASE("the same file and options give the same bytes") {
  Random random(4);
  IndexBuilder builder;
  for (int i = 0; i < 200; ++i) {
    const Bytes file = make_jpeg(static_cast<int>(1 + random() % 90), static_cast<int>(1 + random() % 90), random(),
                                 random_options(random));
    ByteBuffer again;  // by a builder that has seen others
    REQUIRE(builder.build(file, {}, again) == Indexability::indexable);
    CHECK(std::ranges::equal(index_of(file), again.bytes()));
  }
}

TEST_CASE("files that have an index though they are not as tidy as they could be") {
  JpegOptions options;
  const Bytes file = make_jpeg(90, 60, 1, options);
  const std::ptrdiff_t dht = find_marker(file, 0xc4);
  CHECK(round_trips(with(file, dht, bytes_of("\xff\xff\xff\xff"sv))));
  CHECK(round_trips(with(file, dht, bytes_of("junk\xff\0more"sv))));
  CHECK(round_trips(with(file, dht, bytes_of("\xff\xd3\xff\x01"sv))));  // markers without a body
  CHECK(round_trips(with(file, static_cast<std::ptrdiff_t>(file.size()), bytes_of("\xff\xd8trailing garbage"sv))));
  CHECK(round_trips(with(file, dht, jpeg_segment(0xfe, Bytes(65533)))));  // the longest segment
  CHECK(round_trips(with(file, dht, jpeg_segment(0xe1, bytes_of("Exif\0\0 and so on"sv)))));

  options.quant_16bit = true;
  const Bytes wide_tables = make_jpeg(90, 60, 2, options);
  CHECK(round_trips(wide_tables));
  SegmentIndex index;
  REQUIRE(open_segment_index(index_of(wide_tables), wide_tables, index) == IndexStatus::ok);
  CHECK(index.frame.components[0].quant_16bit);

  options.restart_interval = 3;
  Bytes filled = make_jpeg(90, 60, 3, options);  // fill bytes before restart markers
  for (std::ptrdiff_t at = find_marker(filled, 0xda); at + 1 < std::ssize(filled); ++at) {
    const auto place = static_cast<std::size_t>(at);
    if (filled[place] != std::byte{0xff} || (filled[place + 1] & std::byte{0xf8}) != std::byte{0xd0}) continue;
    filled = with(filled, at, bytes_of("\xff\xff"sv));
    at += 3;
  }
  CHECK(round_trips(filled));
}

TEST_CASE("the last of several tables counts") {
  JpegOptions options;
  const Bytes coarse = make_jpeg(40, 40, 1, {.quality = 10});
  const Bytes fine = make_jpeg(40, 40, 1, {.quality = 95});
  const std::ptrdiff_t dqt = find_marker(coarse, 0xdb);
  const Bytes before(fine.begin() + dqt, fine.begin() + dqt + 69);
  CHECK(round_trips(with(coarse, dqt, before)));
  CHECK(round_trips(with(coarse, find_marker(coarse, 0xda), before)));
}

TEST_CASE("colour models are libjpeg's guesses") {
  const Bytes file = make_jpeg(40, 40, 1);
  const Bytes without_jfif = without_segment(file, 2);
  const Bytes adobe_rgb = jpeg_segment(0xee, bytes_of("Adobe\0\x64\0\0\0\0\0"sv));
  const Bytes adobe_ycc = jpeg_segment(0xee, bytes_of("Adobe\0\x64\0\0\0\0\x01"sv));
  const Bytes adobe_odd = jpeg_segment(0xee, bytes_of("Adobe\0\x64\0\0\0\0\x07"sv));
  const Bytes adobe_short = jpeg_segment(0xee, bytes_of("Adobe\0\x64\0\0\0\0"sv));
  const auto color_of = [](const Bytes& bytes) {
    CHECK(round_trips(bytes));
    return parse(bytes).frame.color;
  };
  CHECK(color_of(without_jfif) == ColorModel::ycbcr);
  CHECK(color_of(with(without_jfif, 2, adobe_rgb)) == ColorModel::rgb);
  CHECK(color_of(with(without_jfif, 2, adobe_ycc)) == ColorModel::ycbcr);
  CHECK(color_of(with(without_jfif, 2, adobe_odd)) == ColorModel::ycbcr);
  CHECK(color_of(with(without_jfif, 2, adobe_short)) == ColorModel::ycbcr);
  CHECK(color_of(with(file, 2, adobe_rgb)) == ColorModel::ycbcr);  // JFIF wins

  Bytes named = make_jpeg(40, 40, 1, {.color = JpegColor::rgb});
  CHECK(color_of(named) == ColorModel::rgb);
  CHECK(color_of(without_segment(named, find_marker(named, 0xee))) == ColorModel::rgb);  // components R, G, B
}

TEST_CASE("files that have no index, and why") {
  CHECK(verdict({}) == Indexability::damaged);
  CHECK(verdict(make_png(8, 8, 1)) == Indexability::damaged);
  CHECK(verdict(make_jpeg(40, 30, 1, {.progressive = true})) == Indexability::progressive);
  CHECK(verdict(make_jpeg(40, 30, 1, {.gray = true, .progressive = true})) == Indexability::progressive);
  CHECK(verdict(make_jpeg(40, 30, 1, {.arithmetic = true})) == Indexability::arithmetic);
  CHECK(verdict(make_jpeg(40, 30, 1, {.progressive = true, .arithmetic = true})) == Indexability::arithmetic);
  CHECK(verdict(make_jpeg(40, 30, 1, {.separate_scans = true})) == Indexability::multiple_scans);
  CHECK(verdict(make_jpeg(40, 30, 1, {.color = JpegColor::cmyk})) == Indexability::four_components);
  CHECK(verdict(make_jpeg(40, 30, 1, {.color = JpegColor::ycck})) == Indexability::four_components);
}

TEST_CASE("what libjpeg-turbo refuses or guesses at has no index") {
  const Bytes file = make_jpeg(90, 60, 1);
  const std::ptrdiff_t sof = find_marker(file, 0xc0);
  const std::ptrdiff_t dht = find_marker(file, 0xc4);
  const std::ptrdiff_t sos = find_marker(file, 0xda);
  const auto changed = [&file](std::ptrdiff_t at, int value) {
    Bytes bytes = file;
    bytes[static_cast<std::size_t>(at)] = static_cast<std::byte>(value);
    return bytes;
  };
  CHECK(verdict(changed(sof + 4, 12)) == Indexability::other_process);    // 12 bits
  CHECK(verdict(changed(sof + 1, 0xc3)) == Indexability::other_process);  // lossless
  CHECK(verdict(changed(sof + 6, 0)) != Indexability::indexable);         // lines are said later, by DNL
  CHECK(verdict(changed(sof + 7, 0xff)) == Indexability::damaged);        // too few bytes for so many pixels
  CHECK(verdict(changed(sof + 14, 0x03)) != Indexability::indexable);     // no such sampling factor
  CHECK(verdict(changed(sof + 12, 3)) == Indexability::damaged);          // no such quantisation table
  CHECK(verdict(changed(sos + 5, 9)) == Indexability::other_process);     // no such component
  CHECK(verdict(changed(sos + 6, 0x22)) == Indexability::damaged);        // no such Huffman table
  CHECK(verdict(changed(sos + 12, 62)) == Indexability::other_process);   // not all coefficients
  CHECK(verdict(changed(dht + 5, 3)) == Indexability::damaged);           // three codes of one bit
  CHECK(verdict(changed(dht + 21, 16)) == Indexability::damaged);         // a DC size beyond 15
  CHECK(verdict(without_segment(file, dht)) == Indexability::damaged);    // libjpeg would take the standard's
  CHECK(verdict(without_segment(file, sof)) == Indexability::damaged);
  CHECK(verdict(with(file, sof, Bytes(file.begin() + sof, file.begin() + sof + 19))) == Indexability::damaged);
  CHECK(verdict(with(file, sof, bytes_of("\xff\xd8"sv))) == Indexability::damaged);        // two SOI
  CHECK(verdict(with(file, sof, bytes_of("\xff\xd9"sv))) == Indexability::damaged);        // EOI too early
  CHECK(verdict(with(file, sof, bytes_of("\xff\xfe\0\x01"sv))) == Indexability::damaged);  // shorter than its length
  CHECK(verdict(with(file, sof, bytes_of("\xff\xdd\0\x05\0\x01\0"sv))) == Indexability::damaged);
  CHECK(verdict(with(file, sos, jpeg_segment(0xcc, bytes_of("\x77\0"sv)))) != Indexability::indexable);  // bad DAC

  Bytes fractional = changed(sof + 11, 0x32);  // 3x2 over 2x1
  fractional[static_cast<std::size_t>(sof) + 14] = std::byte{0x21};
  CHECK(verdict(fractional) == Indexability::other_process);
  Bytes too_wide = changed(sof + 7, 0xff);
  too_wide[static_cast<std::size_t>(sof) + 8] = std::byte{0xff};
  CHECK(verdict(too_wide) == Indexability::other_process);

  Bytes gray = make_jpeg(30, 30, 1, {.gray = true});
  const std::ptrdiff_t gray_sof = find_marker(gray, 0xc0);
  gray[static_cast<std::size_t>(gray_sof) + 11] = std::byte{0x50};  // sampling 5x0
  CHECK_FALSE(decode_rgb(gray).ok);
  CHECK(verdict(gray) != Indexability::indexable);
}

TEST_CASE("coefficients that overflow are no obstacle, unless they vanish") {
  std::array<std::uint16_t, kBlockCoefficients> quant;
  quant.fill(128);
  const auto file_with = [&quant](int below_first_row) {
    return write_coefficients(1, 4, 4, quant,
                              [below_first_row](int, std::uint32_t, std::uint32_t, std::span<std::int16_t> block) {
                                block[3] = 900;
                                block[32] = static_cast<std::int16_t>(below_first_row);
                              });
  };
  CHECK(round_trips(file_with(0)));
  CHECK(round_trips(file_with(1)));
  CHECK(round_trips(file_with(511)));
  CHECK(verdict(file_with(512)) == Indexability::other_process);  // 512 * 128 = 2^16
  CHECK(verdict(file_with(-512)) == Indexability::other_process);
  quant[32] = 0;
  CHECK(round_trips(file_with(0)));
  CHECK(verdict(file_with(1)) == Indexability::other_process);
}

TEST_CASE("a file that ends before its scan does has no index") {
  for (const unsigned restart : {0u, 2u}) {
    const Bytes file = make_jpeg(50, 40, 1, {.restart_interval = restart});
    for_each_cut(file, 1, [&](std::span<const std::byte> prefix) { CHECK(verdict(prefix) == Indexability::damaged); });
  }
}

TEST_CASE("a file without EOI has an index if libjpeg-turbo, given no more, shows all of it") {
  int shown = 0;
  constexpr int kFiles = 40;
  for (std::uint32_t seed = 0; seed < kFiles; ++seed) {
    const Bytes whole = make_jpeg(24, 24, seed);
    const Bytes file(whole.begin(), whole.end() - 2);
    RgbImage image;
    CopyRows rows(image.resize({24, 24}));
    const bool shows = decode_jpeg_rows(file, 24 * 24, rows).ok();
    CHECK((verdict(file) == Indexability::indexable) == shows);
    if (shows) CHECK(round_trips(file));
    shown += shows;
  }
  CHECK(shown > 0);  // it depends on the last bits
  CHECK(shown < kFiles);
}

TEST_CASE("a flipped byte makes a file that libjpeg-turbo shows the same, or one without an index") {
  const Bytes file = make_jpeg(40, 30, 1, {.restart_interval = 2});
  int indexable = 0;
  for_each_flip(file, 1, [&](std::span<const std::byte> bytes, std::size_t offset) {
    CAPTURE(offset);
    if (verdict(bytes) != Indexability::indexable) return;
    const Reference reference = decode_rgb(bytes, 1u << 20);
    if (reference.message == "too large") return;
    ++indexable;
    CHECK(round_trips(bytes));
  });
  CHECK(indexable > 100);
}

TEST_CASE("segments are as short as the share allows") {
  const Bytes file = make_jpeg(800, 600, 1, {.quality = 95, .noise = 100});
  SegmentIndex index;
  const Bytes usual = index_of(file);
  REQUIRE(open_segment_index(usual, file, index) == IndexStatus::ok);
  CHECK(usual.size() <= file.size() / 50);
  CHECK(index.segments_per_row() > 1);
  const Bytes small = index_of(file, {.share = 1.0 / 1000});
  REQUIRE(open_segment_index(small, file, index) == IndexStatus::ok);
  CHECK(small.size() < usual.size());
  // One segment a row at least, however small the file is.
  const Bytes tiny = make_jpeg(800, 600, 1, {.quality = 1, .noise = 1});
  const Bytes least = index_of(tiny);
  REQUIRE(open_segment_index(least, tiny, index) == IndexStatus::ok);
  CHECK(index.segments_per_row() == 1);
}

TEST_CASE("real files: each round trips, and the indexes take at most two percent") {
  if (external_data().empty()) {
    MESSAGE("IMGPACK_TEST_DATA is not set: skipped");
    return;
  }
  std::size_t bytes = 0;
  std::size_t index_bytes = 0;
  int indexable = 0;
  for (const auto& path : files_below(external_data() / "imagenet-sample")) {
    CAPTURE(path);
    const Bytes file = read_file(path);
    bytes += file.size();
    if (verdict(file) != Indexability::indexable) continue;
    ++indexable;
    CHECK(round_trips(file));
    index_bytes += index_of(file).size();
  }
  MESSAGE(indexable << " files, index share " << 100.0 * static_cast<double>(index_bytes) / static_cast<double>(bytes)
                    << " %");
  CHECK(indexable > 300);
  CHECK(index_bytes * 50 <= bytes);
}
