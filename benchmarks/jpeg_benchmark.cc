// Indexing, decoding, and decoding of random crops of JPEG files, each beside libjpeg-turbo on the same files in the
// same run: one thread, files in memory.
//
//   jpeg_benchmark FOLDER [--rounds N] [--crops N] [--only PART] [--json] [--list-crops]
//
// Before anything is timed, results are compared with libjpeg-turbo's bit for bit. With --list-crops only the crops are
// printed, each with the CRC-32 of its 224x224 result, for jpeg_benchmark.py.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <zlib.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#ifdef IMGPACK_BENCHMARK_TURBOJPEG
#include <turbojpeg.h>
#endif

#include "benchmarks/contest.h"
#include "benchmarks/fused_crop.h"
#include "benchmarks/jpeg_sample.h"
#include "benchmarks/libjpeg_baseline.h"
#include "benchmarks/plain_resize.h"
#include "benchmarks/segment_curve.h"
#include "codec/image_header.h"
#include "codec/jpeg/index_builder.h"
#include "codec/jpeg/libjpeg.h"

namespace {

using namespace imgpack;

struct Options {
  std::string folder;
  int rounds = 5;
  int crops = 3;
  std::string only;
  bool json = false;
  bool list_crops = false;
};

/// Prints a contest's table, or keeps it for the JSON document. The first contestant is the baseline.
void report(const std::string& title, const Contest& contest, double bytes, const Options& options,
            nlohmann::ordered_json& document) {
  if (!options.json) fmt::print("\n{:<44} {:>10} {:>9} {:>9}\n", title, "images/s", "MB/s", "ratio");
  for (std::size_t i = 0; i < contest.size(); ++i) {
    const double rate = static_cast<double>(contest.items()) / contest.seconds(i);
    const double megabytes = bytes / contest.seconds(i) / 1e6;
    const double ratio = contest.seconds(0) / contest.seconds(i);
    if (options.json) {
      document[title].push_back(
          {{"name", contest.name(i)}, {"images_per_second", rate}, {"mb_per_second", megabytes}, {"ratio", ratio}});
    } else {
      fmt::print("{:<44} {:>10.0f} {:>9.1f} {:>9.2f}\n", contest.name(i), rate, megabytes, ratio);
    }
  }
}

bool equal(ConstRgbView a, ConstRgbView b) {
  if (a.width != b.width || a.height != b.height) return false;
  for (std::uint32_t y = 0; y < a.height; ++y) {
    if (std::memcmp(a.row(y), b.row(y), std::size_t{a.width} * 3) != 0) return false;
  }
  return true;
}

void require(bool good, const SampleJpeg& image, const char* what) {
  if (!good) throw std::runtime_error(image.path.string() + ": " + what);
}

void measure_indexing(const JpegSample& sample, const Options& options, nlohmann::ordered_json& document) {
  LibjpegBaseline libjpeg;
  jpeg::IndexBuilder builder;
  ByteBuffer index;
  Contest contest(sample.images.size());
  contest.add("libjpeg-turbo, jpeg_read_coefficients",
              [&](std::size_t i) { libjpeg.read_coefficients(sample.images[i].file); });
  contest.add("IndexBuilder", [&](std::size_t i) { builder.build(sample.images[i].file, {}, index); });
  contest.run(options.rounds);
  report("entropy decoding", contest, static_cast<double>(sample.bytes()), options, document);
}

void measure_decoding(const JpegSample& sample, const Options& options, nlohmann::ordered_json& document) {
  LibjpegBaseline libjpeg;
  jpeg::CropDecoder decoder;
  RgbImage expected;
  RgbImage image;
  const auto ours = [&](std::size_t i) {
    const SampleJpeg& jpeg = sample.images[i];
    const jpeg::SegmentIndex index = open_index(jpeg.index, jpeg.file);
    decoder.decode(jpeg.file, index, {0, 0, jpeg.size.width, jpeg.size.height}, image.resize(jpeg.size));
  };
  for (std::size_t i = 0; i < sample.images.size(); ++i) {
    libjpeg.decode(sample.images[i].file, expected);
    ours(i);
    require(equal(image.view(), expected.view()), sample.images[i], "pixels differ from libjpeg-turbo's");
  }

  Contest contest(sample.images.size());
  contest.add("libjpeg-turbo", [&](std::size_t i) { libjpeg.decode(sample.images[i].file, image); });
#ifdef IMGPACK_BENCHMARK_TURBOJPEG
  const std::unique_ptr<void, int (*)(tjhandle)> turbo(tjInitDecompress(), tjDestroy);
  contest.add("TurboJPEG, tjDecompress2", [&](std::size_t i) {
    const SampleJpeg& jpeg = sample.images[i];
    const RgbView out = image.resize(jpeg.size);
    tjDecompress2(turbo.get(), reinterpret_cast<const unsigned char*>(jpeg.file.data()), jpeg.file.size(), out.pixels,
                  static_cast<int>(out.width), 0, static_cast<int>(out.height), TJPF_RGB, 0);
  });
#endif
  contest.add("decode_jpeg_rows", [&](std::size_t i) {
    CopyRows rows(image.resize(sample.images[i].size));
    decode_jpeg_rows(sample.images[i].file, kDefaultMaxPixels, rows);
  });
  contest.add("CropDecoder", ours);
  contest.run(options.rounds);
  report("whole decode", contest, static_cast<double>(sample.bytes()), options, document);
}

ConstRgbView part_of(ConstRgbView image, const Rect& rect) {
  return {image.row(rect.y) + std::size_t{rect.x} * 3, rect.width, rect.height, image.stride};
}

/// Ways of bringing a crop of a file to 224x224. Results are in result().
class CropWays {
 public:
  CropWays() { result_.resize(kTrainingSize); }

  void whole_and_plain(const SampleJpeg& jpeg, const Rect& crop) {
    libjpeg_.decode(jpeg.file, image_);
    resize_plainly(image_.view(), crop);
  }
  void part_and_plain(const SampleJpeg& jpeg, const Rect& crop) {
    const std::uint32_t left = libjpeg_.decode_part(jpeg.file, crop, image_);
    resize_plainly(image_.view(), {left, 0, crop.width, crop.height});
  }
  void whole_and_resizer(const SampleJpeg& jpeg, const Rect& crop) {
    libjpeg_.decode(jpeg.file, image_);
    resizer_.start(resize_crop(crop), result_.view());
    resizer_.take(0, part_of(image_.view(), crop));
  }
  void fused(const SampleJpeg& jpeg, const Rect& crop) { fused_.run(jpeg.file, jpeg.index, crop, result_.view()); }
  /// Without the resize.
  void only_decode(const SampleJpeg& jpeg, const Rect& crop) {
    const jpeg::SegmentIndex index = open_index(jpeg.index, jpeg.file);
    decoder_.decode(jpeg.file, index, crop, image_.resize({crop.width, crop.height}));
  }
  ConstRgbView result() const { return result_.view(); }

 private:
  void resize_plainly(ConstRgbView image, const Rect& crop) {
    const RgbView out = result_.view();
    horizontal_.compute(
        {crop.width, 0, static_cast<float>(crop.width), out.width, Interpolation::bilinear, 0, out.width});
    vertical_.compute(
        {crop.height, 0, static_cast<float>(crop.height), out.height, Interpolation::bilinear, 0, out.height});
    plain_.resize(part_of(image, crop), horizontal_, vertical_, out);
  }

  LibjpegBaseline libjpeg_;
  jpeg::CropDecoder decoder_;
  Resizer resizer_;
  FusedCrop fused_;
  PlainResize plain_;
  ResampleAxis horizontal_;
  ResampleAxis vertical_;
  RgbImage image_;
  RgbImage result_;
};

using CropWay = void (CropWays::*)(const SampleJpeg&, const Rect&);

/// Throws unless all ways but libjpeg-turbo's partial decode give the same. Returns how many results of that one
/// differ.
std::size_t compare_crops(const JpegSample& sample, std::span<const SampleCrop> crops, CropWays& ways) {
  std::size_t different = 0;
  RgbImage expected;
  for (const SampleCrop& crop : crops) {
    const SampleJpeg& jpeg = sample.images[crop.image];
    ways.whole_and_plain(jpeg, crop.rect);
    CopyRows(expected.resize(kTrainingSize)).take(0, ways.result());
    ways.fused(jpeg, crop.rect);
    require(equal(ways.result(), expected.view()), jpeg, "a crop differs from libjpeg-turbo and plain resizing");
    ways.whole_and_resizer(jpeg, crop.rect);
    require(equal(ways.result(), expected.view()), jpeg, "Resizer differs from plain resizing");
    ways.part_and_plain(jpeg, crop.rect);
    if (!equal(ways.result(), expected.view())) ++different;
  }
  return different;
}

void measure_crops(const JpegSample& sample, std::span<const SampleCrop> crops, const Options& options,
                   nlohmann::ordered_json& document) {
  CropWays ways;
  const std::size_t different = compare_crops(sample, crops, ways);
  Contest contest(crops.size());
  const auto add = [&](const char* name, CropWay way) {
    contest.add(name, [&sample, &ways, crops, way](std::size_t i) {
      (ways.*way)(sample.images[crops[i].image], crops[i].rect);
    });
  };
  add("A: libjpeg-turbo whole, plain resize", &CropWays::whole_and_plain);
  add("B: libjpeg-turbo's partial, plain resize", &CropWays::part_and_plain);
  add("C: libjpeg-turbo whole, Resizer", &CropWays::whole_and_resizer);
  add("ours: CropDecoder into Resizer", &CropWays::fused);
  add("ours, decode of the crop only", &CropWays::only_decode);
  contest.run(options.rounds);

  double bytes = 0;
  for (const SampleCrop& crop : crops) bytes += static_cast<double>(sample.images[crop.image].file.size());
  report("random crops to 224x224", contest, bytes, options, document);
  if (options.json) {
    document["crops"] = crops.size();
    document["partial_decode_differs"] = different;
  } else {
    fmt::print("{} crops, the same bytes by all ways but B, where {} differ\n", crops.size(), different);
  }
}

void measure_segments(const JpegSample& sample, std::span<const SampleCrop> crops, const Options& options,
                      nlohmann::ordered_json& document) {
  const std::vector<SegmentCurvePoint> points = measure_segment_curve(sample, crops, options.rounds);
  const auto usual = std::ranges::find(points, "default", &SegmentCurvePoint::name);
  if (!options.json) {
    fmt::print("\n{:<16} {:>8} {:>9} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "segments", "index %", "mean",
               "median", "blocks", "needed %", "touched", "skipped", "beside", "rate %");
  }
  for (const SegmentCurvePoint& point : points) {
    const double rate = 100 * usual->seconds / point.seconds;
    if (options.json) {
      document["segments"].push_back({{"name", point.name},
                                      {"index_percent", point.index_percent},
                                      {"mean_segments", point.mean_segments},
                                      {"median_segments", point.median_segments},
                                      {"mean_blocks", point.mean_blocks},
                                      {"needed_percent", point.needed_percent},
                                      {"touched_percent", point.touched_percent},
                                      {"skipped_percent", point.skipped_percent},
                                      {"beside_percent", point.beside_percent},
                                      {"rate_percent", rate}});
    } else {
      fmt::print("{:<16} {:>8.2f} {:>9.1f} {:>7} {:>7.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f}\n", point.name,
                 point.index_percent, point.mean_segments, point.median_segments, point.mean_blocks,
                 point.needed_percent, point.touched_percent, point.skipped_percent, point.beside_percent, rate);
    }
  }
}

void list_crops(const JpegSample& sample, std::span<const SampleCrop> crops) {
  FusedCrop fused;
  RgbImage result;
  for (const SampleCrop& crop : crops) {
    const SampleJpeg& jpeg = sample.images[crop.image];
    const auto [x, y, width, height] = crop.rect;
    fused.run(jpeg.file, jpeg.index, crop.rect, result.resize(kTrainingSize));
    const std::span<const std::byte> bytes = result.bytes();
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    fmt::print("{}\t{}\t{}\t{}\t{}\t{}\n", jpeg.path.string(), x, y, width, height, sum);
  }
}

void run(const Options& options) {
  const JpegSample sample = load_jpeg_sample(options.folder);
  const std::vector<SampleCrop> crops = random_resized_crops(sample, options.crops);
  if (options.list_crops) return list_crops(sample, crops);

  nlohmann::ordered_json document;
  document["images"] = sample.images.size();
  document["bytes"] = sample.bytes();
  document["rounds"] = options.rounds;
  document["left_out"] = sample.left_out;
  if (!options.json) {
    fmt::print("{} images, {:.1f} MB, {} rounds\n", sample.images.size(), static_cast<double>(sample.bytes()) / 1e6,
               options.rounds);
    for (const auto& [reason, count] : sample.left_out) fmt::print("left out: {} ({})\n", count, reason);
  }
  const auto wanted = [&](const char* part) { return options.only.empty() || options.only == part; };
  if (wanted("index")) measure_indexing(sample, options, document);
  if (wanted("decode")) measure_decoding(sample, options, document);
  if (wanted("crops")) measure_crops(sample, crops, options, document);
  if (wanted("segments")) measure_segments(sample, crops, options, document);
  if (options.json) fmt::print("{}\n", document.dump(2));
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  CLI::App app("JPEG indexing and decoding beside libjpeg-turbo");
  app.add_option("folder", options.folder, "JPEG files, also in subfolders")->required();
  app.add_option("--rounds", options.rounds, "How often each contestant does everything")->check(CLI::PositiveNumber);
  app.add_option("--crops", options.crops, "Random crops of each image")->check(CLI::PositiveNumber);
  app.add_option("--only", options.only, "Measure this part only")
      ->check(CLI::IsMember({"index", "decode", "crops", "segments"}));
  app.add_flag("--json", options.json, "Print a JSON document");
  app.add_flag("--list-crops", options.list_crops, "Print the crops, and measure nothing");
  CLI11_PARSE(app, argc, argv);
  run(options);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "jpeg_benchmark: {}\n", error.what());
  return 1;
}
