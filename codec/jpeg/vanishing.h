// Coefficients that quantisation values multiply to nothing: other than zero, but zero modulo 2^16 once they are
// dequantised. Only contrived files have them. libjpeg-turbo's inverse DCT looks at coefficients before that to see
// whether a block has any below its first row, ours behind; where other coefficients of the block overflow as well, the
// two then differ.
#pragma once

#include <cstddef>
#include <span>

#include "codec/jpeg/frame.h"
#include "codec/jpeg/tables.h"

namespace imgpack::jpeg {

/// Whether the scan has such an AC coefficient. Reads it only if the tables allow for any. REQUIRES: the scan decodes
/// without damage.
bool has_vanishing_coefficient(std::span<const std::byte> file, const Frame& frame, const ScanTables& tables);

}  // namespace imgpack::jpeg
