#include "codec/decode_samples.h"
#include "codec/jpeg/index_builder.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "codec/image_header.h"
#include "codec/jpeg/segment_index.h"
#include "codec/other/image_samples.h"
#include "codec/raw.h"
#include "mmap/byte_buffer.h"
#include "tests/support/images.h"

namespace imgpack::testing {

namespace {

/// Of a file; its header says the size.
RecordSample of_file(std::string name, std::vector<std::byte> file) {
  const ImageHeader header = read_image_header(file).header;
  RecordSample sample{.name = std::move(name), .meta = {}, .payload = std::move(file), .segments = {}};
  sample.meta.width = header.width;
  sample.meta.height = header.height;
  sample.meta.channels = header.channels;
  sample.meta.codec = header.codec;
  return sample;
}

RecordSample indexed(std::string name, std::vector<std::byte> file) {
  RecordSample sample = of_file(std::move(name), std::move(file));
  jpeg::IndexBuilder builder;
  ByteBuffer index;
  // Short segments, so that there are several in a row.
  const jpeg::IndexOptions options{.segment_mcus = 2};
  if (builder.build(sample.payload, options, index) != jpeg::Indexability::indexable) std::abort();
  sample.segments.assign(index.bytes().begin(), index.bytes().end());
  return sample;
}

RecordSample raw(bool compressed) {
  RecordSample sample{.name = compressed ? "raw zstd" : "raw", .meta = {}, .payload = {}, .segments = {}};
  sample.meta.width = 13;
  sample.meta.height = 11;
  sample.meta.channels = 3;
  sample.meta.codec = compressed ? Codec::raw_rgb8_zstd : Codec::raw_rgb8;
  for (int i = 0; i < 13 * 11 * 3; ++i) sample.payload.push_back(static_cast<std::byte>(i * i / 19));
  if (!compressed) return sample;
  ByteBuffer frame;
  compress_zstd(sample.payload, 5, frame);
  sample.payload.assign(frame.bytes().begin(), frame.bytes().end());
  return sample;
}

}  // namespace

std::vector<RecordSample> record_samples() {
  std::vector<RecordSample> samples;
  samples.push_back(of_file("jpeg", make_jpeg(37, 29, 1)));
  samples.push_back(of_file("progressive jpeg", make_jpeg(20, 23, 2, {.progressive = true})));
  samples.push_back(of_file("gray jpeg", make_jpeg(9, 10, 3, {.gray = true})));
  samples.push_back(of_file("cmyk jpeg", make_jpeg(18, 7, 4, {.color = JpegColor::cmyk})));
  samples.push_back(indexed("jpeg with index", make_jpeg(75, 50, 5, {.quality = 80})));
  samples.push_back(indexed("another jpeg with index", make_jpeg(75, 50, 6, {.quality = 70})));
  samples.push_back(indexed("gray jpeg with index", make_jpeg(41, 33, 7, {.gray = true})));
  samples.push_back(indexed("jpeg of one pixel with index", make_jpeg(1, 1, 8)));
  samples.push_back(raw(false));
  samples.push_back(raw(true));
  for (ImageSample& image : image_samples()) samples.push_back(of_file(image.name, std::move(image.bytes)));
  for (RecordSample& sample : samples) {
    sample.meta.payload_size = sample.payload.size();
    sample.meta.segments_size = sample.segments.size();
  }
  return samples;
}

}  // namespace imgpack::testing
