// Decoding whole images on one thread.
#include "codec/decode.h"
#include "codec/image.h"
#include "codec/other/other_image.h"
#include "measure/measurements.h"
#include "measure/pass_order.h"
#include "measure/run_clock.h"
#include "measure/subject.h"

namespace imgpack::measure {

MeasureRun measure_decode(const MeasureContext& context) {
  const std::unique_ptr<OpenSubject> subject = context.subject.open();
  MeasureRun run;
  ByteBuffer buffer;
  ImageDecoder decoder(&decode_other_image);
  RgbImage image;
  PassOrder order(subject->size(), context.seed, context.options.single_pass);
  const RunClock clock(context.options);
  while (!clock.over()) {
    const std::optional<std::uint64_t> index = order.next();
    if (!index) break;
    const RecordBytes bytes = subject->read(*index, buffer);
    const RecordMeta meta = subject->meta(*index, bytes);
    ImageResult result = check_image_size(meta, kDefaultMaxPixels);
    if (result.ok()) result = decoder.decode(meta, bytes, image);
    if (!result.ok()) throw subject->error(*index, result);
    run.bytes += bytes.payload.size();
    ++run.samples;
  }
  clock.stop(run);
  return run;
}

}  // namespace imgpack::measure
