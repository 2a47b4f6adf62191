// Augments what standard input asks for, for the differential test against torchvision. A request is, in little-endian
// order (32-bit unsigned unless another type is named): what is wanted; the number of steps; each as its index in
// Augmentation and 12 64-bit floats, its members in order; DType; Layout; key and record (64-bit); width and height of
// the image. Then, and the answer:
//   0  the finished image of a record: Codec, 1 for a segment index, bytes of the payload, payload
//      -> a line "ok HEIGHT WIDTH" or why not; the image's bytes
//   1  plans for as many records, from the given one on: their number -> a line each: the first stage's crop, then the
//      operations on colors, then the rectangles that are erased, separated by ;
//   2  mixes for as many batches, from the given one on: their number -> a line each: kind, share, rectangle
//   3  operations on the colors of the image itself: their number; each as kind and factor (32-bit float); pixels
//      -> the pixels after each of them alone
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "codec/jpeg/index_builder.h"
#include "codec/other/other_image.h"
#include "mmap/little_endian.h"
#include "reader/augment/augmenter.h"
#include "reader/augment/batch_mixer.h"
#include "reader/augment/color_ops.h"
#include "reader/augment/sample_maker.h"

namespace {

using namespace imgpack;

bool read_exactly(void* out, std::size_t size) {
  return std::fread(out, 1, size, stdin) == size;
}

template <class T>
T next() {
  std::byte bytes[sizeof(T)];
  if (!read_exactly(bytes, sizeof bytes)) std::exit(1);
  return load_le<T>(bytes);
}
std::uint32_t next_32() {
  return next<std::uint32_t>();
}

Augmentation next_step() {
  const std::uint32_t kind = next_32();
  std::array<double, 12> v;
  for (double& value : v) value = std::bit_cast<double>(next<std::uint64_t>());
  const auto whole = [&v](std::size_t i) { return static_cast<std::uint32_t>(v[i]); };
  const auto size = [&](std::size_t i) { return ImageSize(whole(i), whole(i + 1)); };
  const auto filter = [&](std::size_t i) { return static_cast<Interpolation>(whole(i)); };
  const auto three = [&v](std::size_t i) {
    return std::array{static_cast<float>(v[i]), static_cast<float>(v[i + 1]), static_cast<float>(v[i + 2])};
  };
  const auto byte = [&v](std::size_t i) { return static_cast<std::uint8_t>(v[i]); };
  switch (kind) {
    case 0:
      return RandomResizedCrop{size(0), {v[2], v[3]}, {v[4], v[5]}, filter(6)};
    case 1:
      return Resize{whole(0), size(1), filter(3)};
    case 2:
      return CenterCrop{size(0)};
    case 3:
      return RandomCrop{size(0), whole(2), v[3] != 0, {byte(4), byte(5), byte(6)}};
    case 4:
      return HorizontalFlip{v[0]};
    case 5:
      return ColorJitter{v[0], v[1], v[2], v[3]};
    case 6:
      return Grayscale{v[0]};
    case 7:
      return Normalize{three(0), three(3)};
    case 8:
      return RandomErasing{v[0], {v[1], v[2]}, {v[3], v[4]}, three(5), v[8] != 0};
    case 9:
      return MixUp{v[0], v[1]};
    default:
      return CutMix{v[0], v[1]};
  }
}

std::string text_of(const Rect& rect) {
  return fmt::format("{} {} {} {}", rect.x, rect.y, rect.width, rect.height);
}

struct Request {
  std::vector<Augmentation> steps;
  DType dtype;
  Layout layout;
  std::uint64_t key;
  std::uint64_t record;
  Size size;

  static Request read() {
    Request request;
    request.steps.resize(next_32());
    for (Augmentation& step : request.steps) step = next_step();
    request.dtype = static_cast<DType>(next_32());
    request.layout = static_cast<Layout>(next_32());
    request.key = next<std::uint64_t>();
    request.record = next<std::uint64_t>();
    request.size.width = next_32();
    request.size.height = next_32();
    return request;
  }
};

void make_image(const Request& request) {
  RecordMeta meta{.width = request.size.width, .height = request.size.height, .channels = 3};
  meta.codec = static_cast<Codec>(next_32());
  const bool indexed = next_32() != 0;
  std::vector<std::byte> payload(next_32());
  if (!read_exactly(payload.data(), payload.size())) std::exit(1);
  meta.payload_size = payload.size();
  ByteBuffer index;
  if (indexed) jpeg::IndexBuilder().build(payload, {.share = 0.2}, index);
  meta.segments_size = index.size();

  const Augmenter augmenter(request.steps, request.dtype, request.layout);
  const auto planned = augmenter.plan(request.key, request.record, request.size);
  if (const std::string* reason = std::get_if<std::string>(&planned)) {
    fmt::print("{}\n", *reason);
    return;
  }
  const auto& plan = std::get<SamplePlan>(planned);
  // Aligned as batches are, so that rows can go past the caches; those of every other record do.
  constexpr std::size_t kAlignment = 64;
  const std::size_t size = image_bytes(plan.size(), request.dtype);
  std::vector<std::byte> memory(size + kAlignment);
  void* aligned = memory.data();
  std::size_t room = memory.size();
  auto* const out = static_cast<std::byte*>(std::align(kAlignment, size, aligned, room));
  SampleMaker maker(augmenter.format(), &decode_other_image, kDefaultMaxPixels, request.record % 2 != 0);
  const ImageResult result = maker.make(meta, {payload, index.bytes()}, plan, out);
  if (!result.ok()) {
    fmt::print("{}\n", result.reason);
    return;
  }
  fmt::print("ok {} {}\n", plan.size().height, plan.size().width);
  std::fwrite(out, 1, size, stdout);
}

void print_plans(const Request& request) {
  const Augmenter augmenter(request.steps, request.dtype, request.layout);
  const std::uint32_t count = next_32();
  for (std::uint64_t record = request.record; record < request.record + count; ++record) {
    const auto planned = augmenter.plan(request.key, record, request.size);
    const auto& plan = std::get<SamplePlan>(planned);
    std::string line = text_of(plan.stages.front().crop) + ";";
    for (const ColorOp& op : plan.stages.front().colors) {
      line += fmt::format(" {} {}", static_cast<int>(op.kind), op.factor);
    }
    line += ";";
    for (const Erasing& erasing : plan.erasings) line += " " + text_of(erasing.rect);
    fmt::print("{}\n", line);
  }
}

void print_mixes(const Request& request) {
  const Augmenter augmenter(request.steps, request.dtype, request.layout);
  const BatchMixer mixer(augmenter.mixing(), request.dtype, request.layout, {request.size.height, request.size.width},
                         1000);
  const std::uint32_t count = next_32();
  for (std::uint64_t step = request.record; step < request.record + count; ++step) {
    const Mix mix = mixer.draw(request.key, step);
    fmt::print("{} {} {}\n", static_cast<int>(mix.kind), mix.share, text_of(mix.pasted));
  }
}

void change_colors(const Request& request) {
  std::vector<ColorOp> ops(next_32());
  for (auto& [kind, factor] : ops) {
    kind = static_cast<ColorOp::Kind>(next_32());
    factor = std::bit_cast<float>(next_32());
  }
  RgbImage image;
  const RgbView view = image.resize(request.size);
  if (!read_exactly(view.pixels, image.bytes().size())) std::exit(1);
  RgbImage changed;
  for (const ColorOp& op : ops) {
    const RgbView out = changed.resize(request.size);
    CopyRows(out).take(0, view);
    apply_color(op, out);
    std::fwrite(changed.bytes().data(), 1, changed.bytes().size(), stdout);
  }
}

}  // namespace

int main() {
  std::byte command[4];
  while (read_exactly(command, sizeof command)) {
    const Request request = Request::read();
    switch (load_le<std::uint32_t>(command)) {
      case 0:
        make_image(request);
        break;
      case 1:
        print_plans(request);
        break;
      case 2:
        print_mixes(request);
        break;
      default:
        change_colors(request);
    }
    std::fflush(stdout);
  }
  return 0;
}
