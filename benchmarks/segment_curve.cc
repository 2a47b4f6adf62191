#include "benchmarks/segment_curve.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "benchmarks/contest.h"
#include "benchmarks/fused_crop.h"
#include "codec/image_header.h"
#include "codec/jpeg/crop_plan.h"
#include "codec/jpeg/index_builder.h"
#include "codec/jpeg/libjpeg.h"

namespace imgpack {

namespace {

using Bytes = std::vector<std::byte>;

/// Files and their indexes in one setting.
struct Setting {
  std::string name;
  std::vector<std::span<const std::byte>> files;
  std::vector<Bytes> indexes;
  std::vector<Bytes> rewritten;  ///< what `files` refers to, if not to the sample
};

Bytes copy(const ByteBuffer& buffer) {
  return {buffer.bytes().begin(), buffer.bytes().end()};
}

void build_indexes(const jpeg::IndexOptions& options, Setting& setting) {
  jpeg::IndexBuilder builder;
  ByteBuffer index;
  for (const std::span<const std::byte> file : setting.files) {
    if (builder.build(file, options, index) != jpeg::Indexability::indexable) {
      throw std::runtime_error("a file can't be indexed");
    }
    setting.indexes.push_back(copy(index));
  }
}

Setting with_options(const JpegSample& sample, std::string name, const jpeg::IndexOptions& options) {
  Setting setting{.name = std::move(name)};
  for (const SampleJpeg& image : sample.images) setting.files.emplace_back(image.file);
  build_indexes(options, setting);
  return setting;
}

Setting with_restart_markers(const JpegSample& sample) {
  Setting setting{.name = "restart markers"};
  ByteBuffer out;
  for (const SampleJpeg& image : sample.images) {
    const ImageResult result = transcode_jpeg(image.file, kDefaultMaxPixels, {.restart_markers = true}, out);
    if (!result.ok()) throw std::runtime_error(image.path.string() + ": " + result.reason);
    setting.rewritten.push_back(copy(out));
  }
  setting.files.assign(setting.rewritten.begin(), setting.rewritten.end());
  build_indexes({}, setting);
  return setting;
}

std::vector<Setting> all_settings(const JpegSample& sample) {
  std::vector<Setting> settings;
  settings.push_back(with_options(sample, "a segment a row", {.segment_mcus = jpeg::kMaxSide}));
  for (const double percent : {0.5, 1.0, 1.4}) {
    settings.push_back(with_options(sample, fmt::format("{} %", percent), {.share = percent / 100}));
  }
  settings.push_back(with_options(sample, "default", {}));
  for (const double percent : {3.0, 5.0}) {
    settings.push_back(with_options(sample, fmt::format("{} %", percent), {.share = percent / 100}));
  }
  settings.push_back(with_restart_markers(sample));
  return settings;
}

void describe_indexes(const Setting& setting, SegmentCurvePoint& point) {
  std::vector<std::uint32_t> segments;
  double index_bytes = 0;
  double file_bytes = 0;
  double all_segments = 0;
  double all_blocks = 0;
  for (std::size_t i = 0; i < setting.files.size(); ++i) {
    const jpeg::SegmentIndex index = open_index(setting.indexes[i], setting.files[i]);
    const jpeg::Frame& frame = index.frame;
    segments.push_back(index.segment_count());
    index_bytes += static_cast<double>(setting.indexes[i].size());
    file_bytes += static_cast<double>(setting.files[i].size());
    all_segments += index.segment_count();
    all_blocks += static_cast<double>(frame.mcus_per_row()) * frame.mcu_rows() * frame.blocks_per_mcu();
  }
  std::ranges::sort(segments);
  point.index_percent = 100 * index_bytes / file_bytes;
  point.mean_segments = all_segments / static_cast<double>(segments.size());
  point.median_segments = segments[segments.size() / 2];
  point.mean_blocks = all_blocks / all_segments;
}

/// In blocks, since MCUs have different sizes.
void describe_crops(const Setting& setting, std::span<const SampleCrop> crops, SegmentCurvePoint& point) {
  double all = 0;
  double needed = 0;
  double skipped = 0;
  double beside = 0;
  double touched = 0;
  double all_segments = 0;
  for (const SampleCrop& crop : crops) {
    const jpeg::SegmentIndex index = open_index(setting.indexes[crop.image], setting.files[crop.image]);
    const jpeg::CropPlan plan = jpeg::plan_crop(index.frame, crop.rect);
    const std::uint32_t length = index.segment_mcus;
    const std::uint32_t first_segment = plan.columns.first / length;
    const std::uint32_t end_segment = (plan.columns.end + length - 1) / length;
    const std::uint32_t end = std::min(end_segment * length, index.frame.mcus_per_row());
    const double rows = plan.rows.end - plan.rows.first;
    const double row_blocks = rows * index.frame.blocks_per_mcu();
    all += static_cast<double>(index.frame.mcus_per_row()) * index.frame.mcu_rows() * index.frame.blocks_per_mcu();
    needed += row_blocks * (plan.columns.end - plan.columns.first);
    skipped += row_blocks * (plan.columns.first - first_segment * length);
    beside += row_blocks * (plan.columns.first - first_segment * length + end - plan.columns.end);
    touched += rows * (end_segment - first_segment);
    all_segments += index.segment_count();
  }
  point.needed_percent = 100 * needed / all;
  point.skipped_percent = 100 * skipped / needed;
  point.beside_percent = 100 * beside / needed;
  point.touched_percent = 100 * touched / all_segments;
}

}  // namespace

std::vector<SegmentCurvePoint> measure_segment_curve(const JpegSample& sample, std::span<const SampleCrop> crops,
                                                     int rounds) {
  const std::vector<Setting> settings = all_settings(sample);
  FusedCrop fused;
  RgbImage result;
  const RgbView out = result.resize(kTrainingSize);
  Contest contest(crops.size());
  for (const Setting& setting : settings) {
    contest.add(setting.name, [&](std::size_t i) {
      const std::size_t image = crops[i].image;
      fused.run(setting.files[image], setting.indexes[image], crops[i].rect, out);
    });
  }
  contest.run(rounds);

  std::vector<SegmentCurvePoint> points(settings.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    points[i].name = settings[i].name;
    points[i].seconds = contest.seconds(i);
    describe_indexes(settings[i], points[i]);
    describe_crops(settings[i], crops, points[i]);
  }
  return points;
}

}  // namespace imgpack
