// Compiles what the host and the device share as device code, so that a header that only works on the host is noticed
// at once. Nothing of it is run.
#include <cstdint>

#include "codec/jpeg/bit_reader.h"
#include "codec/jpeg/block_decoder.h"
#include "codec/jpeg/color.h"
#include "codec/jpeg/crop_plan.h"
#include "codec/jpeg/frame.h"
#include "codec/jpeg/huffman.h"
#include "codec/jpeg/idct.h"
#include "codec/jpeg/segment_cursor.h"
#include "codec/jpeg/segment_index.h"
#include "codec/resize/fixed_point.h"

namespace imgpack::jpeg {

__global__ void check_frame(Frame frame, std::uint32_t* out) {
  *out = has_valid_geometry(frame) ? frame.mcus_per_row() * frame.mcu_rows() * frame.blocks_per_mcu() : 0;
  out[1] = frame.component_width(0) + frame.component_height(0);
}

__global__ void check_tables(const std::uint8_t* table, const HuffmanTable* huffman, std::uint32_t* out) {
  *out = is_valid_huffman_table(table, HuffmanClass::dc) ? huffman->find_code(threadIdx.x, HuffmanClass::ac) : 0;
}

__global__ void decode_blocks(SegmentIndex index, const std::uint8_t* scan, const HuffmanTable* dc,
                              const HuffmanTable* ac, const Dequantizer* dequantizer, std::int16_t* blocks) {
  const std::uint32_t segment = blockIdx.x * blockDim.x + threadIdx.x;
  if (segment + 1 >= index.segment_count()) return;
  SegmentCursor cursor;
  if (!cursor.begin(index, scan, segment)) return;
  for (std::uint32_t mcu = 0; mcu < index.segment_mcus && !cursor.reader.overran(); ++mcu, cursor.advance()) {
    if (!cursor.pass_restart(index.frame.restart_interval)) return;
    if (decode_block(cursor.reader, *dc, *ac, *dequantizer, cursor.dc[0], blocks) == kBadBlock) return;
    blocks += kBlockCoefficients;
  }
  if (!cursor.stands_at(index.start(segment + 1))) blocks[0] = 0;
}

__global__ void skip_blocks(BitReader reader, const HuffmanTable* dc, const HuffmanTable* ac, const SkipTable* skip,
                            std::uint32_t* out) {
  std::int16_t predictor = 0;
  *out = skip_block(reader, *dc, *ac, *skip, predictor) ? reader.bit_position() : 0;
}

__global__ void transform_blocks(const std::int16_t* coefficients, std::uint8_t* samples) {
  const std::uint32_t block = blockIdx.x * blockDim.x + threadIdx.x;
  inverse_dct(coefficients + block * kBlockCoefficients, kBlockSize, samples + block * kBlockCoefficients, kBlockSize);
  samples[0] = idct_dc_only(coefficients[0]);
}

__global__ void make_pixels(Frame frame, Rect crop, const std::uint8_t* y, const std::uint8_t* chroma,
                            std::uint8_t* rgb) {
  const CropPlan plan = plan_crop(frame, crop);
  const std::uint32_t x = plan.columns.first + threadIdx.x;
  const std::uint32_t beside = plan.components[1].row_beside(x);
  const std::uint8_t cb = upsample_h2(chroma[x], chroma[beside], true);
  const std::uint8_t cr = upsample_h2v2(3 * chroma[x], upsample_v2(chroma[x], chroma[beside], false), x % 2 == 0);
  const Rgb pixel = ycc_to_rgb(y[x], cb, cr);
  rgb[0] = pixel.r;
  rgb[1] = pixel.g;
  rgb[2] = pixel.b;
}

__global__ void resample(const std::uint8_t* source, const std::int32_t* weights, std::uint8_t* out) {
  *out = resample_value(source, 3, weights, threadIdx.x);
}

static_assert(zigzag_order().natural[kBlockCoefficients - 1] == kBlockCoefficients - 1);

}  // namespace imgpack::jpeg
