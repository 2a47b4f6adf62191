#include "reader/gpu/stream_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace imgpack::gpu {

#if defined(__SSE2__)

void stream_copy(std::span<const std::byte> source, std::byte* out) noexcept {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kAhead = 1024;  // beyond what the processor foresees across pages
  const std::byte* from = source.data();
  std::size_t left = source.size();
  const std::size_t head = std::min(left, (kLine - reinterpret_cast<std::uintptr_t>(out) % kLine) % kLine);
  if (head != 0) std::memcpy(out, from, head);
  from += head;
  out += head;
  left -= head;
  for (; left >= kLine; left -= kLine, from += kLine, out += kLine) {
    if (left > kAhead) _mm_prefetch(reinterpret_cast<const char*>(from + kAhead), _MM_HINT_NTA);
    const auto* const in = reinterpret_cast<const __m128i*>(from);
    auto* const to = reinterpret_cast<__m128i*>(out);
    const __m128i a = _mm_loadu_si128(in);
    const __m128i b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2);
    const __m128i d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  if (left != 0) std::memcpy(out, from, left);
}

void end_stream_copies() noexcept {
  _mm_sfence();
}

#else

void stream_copy(std::span<const std::byte> source, std::byte* out) noexcept {
  if (!source.empty()) std::memcpy(out, source.data(), source.size());
}
void end_stream_copies() noexcept {}

#endif

}  // namespace imgpack::gpu
