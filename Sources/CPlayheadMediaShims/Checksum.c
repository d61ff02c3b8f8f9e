// The instructions for polynomial multiplication: Swift has no names for them.
#include "CPlayheadMediaShims.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

// The factors that move 64 bytes by 64 bytes: x^512 and x^576 modulo x^16 + x^15 + x^2 + 1. (Gopal et al., "Fast CRC
// Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009.)
enum { SHIFT_LOW = 0x8107, SHIFT_HIGH = 0x1446 };

__attribute__((target("pclmul,ssse3"))) static size_t fold(const uint8_t *bytes, size_t count, uint8_t residue[64]) {
  // The first byte has the highest powers.
  const __m128i reversed = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i shift = _mm_set_epi64x(SHIFT_HIGH, SHIFT_LOW);
  __m128i lanes[4];
  for (int lane = 0; lane < 4; lane++)
    lanes[lane] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + 16 * lane)), reversed);
  size_t done = 64;
  for (; count - done >= 64; done += 64) {
    for (int lane = 0; lane < 4; lane++) {
      const __m128i next = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + done + 16 * lane)), reversed);
      const __m128i high = _mm_clmulepi64_si128(lanes[lane], shift, 0x11);
      const __m128i low = _mm_clmulepi64_si128(lanes[lane], shift, 0x00);
      lanes[lane] = _mm_xor_si128(_mm_xor_si128(high, low), next);
    }
  }
  for (int lane = 0; lane < 4; lane++)
    _mm_storeu_si128((__m128i *)(residue + 16 * lane), _mm_shuffle_epi8(lanes[lane], reversed));
  return done;
}

size_t media_shims_fold_crc16(const uint8_t *bytes, size_t count, uint8_t residue[64]) {
  if (count < 128 || !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("ssse3")) return 0;
  return fold(bytes, count, residue);
}
#else
size_t media_shims_fold_crc16(const uint8_t *bytes, size_t count, uint8_t residue[64]) {
  (void)bytes, (void)count, (void)residue;
  return 0;
}
#endif
