// SPDX-License-Identifier: MIT
#include "sha256.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace xiokv::host {

namespace {

constexpr size_t block_bytes = 64;

constexpr uint32_t round_words[] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<uint32_t, 8>;

uint32_t turn(uint32_t word, int bits) {
  return word >> bits | word << (32 - bits);
}

void spread(const unsigned char *block, uint32_t words[64]) {
  for (int i = 0; i < 16; ++i)
    words[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
               uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    const uint32_t early = words[i - 15], late = words[i - 2];
    words[i] = words[i - 16] + words[i - 7] +
               (turn(early, 7) ^ turn(early, 18) ^ early >> 3) +
               (turn(late, 17) ^ turn(late, 19) ^ late >> 10);
  }
}

void take_block(const unsigned char *block, State &state) {
  uint32_t words[64];
  spread(block, words);
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    const uint32_t first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                           ((e & f) ^ (~e & g)) + round_words[i] + words[i];
    const uint32_t second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                            ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first;
    d = c, c = b, b = a, a = first + second;
  }
  const State more = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i)
    state[i] += more[i];
}

/// What follows the last whole block: the rest, a one bit, zeros, the length.
std::string padded(const std::string &bytes) {
  std::string end =
      bytes.substr(bytes.size() / block_bytes * block_bytes) + '\x80';
  while (end.size() % block_bytes != block_bytes - 8)
    end += '\0';
  for (int byte = 7; byte >= 0; --byte)
    end += static_cast<char>(uint64_t{8} * bytes.size() >> 8 * byte);
  return end;
}

void take_blocks(const std::string &bytes, State &state) {
  for (size_t at = 0; at + block_bytes <= bytes.size(); at += block_bytes)
    take_block(reinterpret_cast<const unsigned char *>(bytes.data()) + at,
               state);
}

} // namespace

std::string sha256(const std::string &bytes) {
  State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  take_blocks(bytes, state);
  take_blocks(padded(bytes), state);
  std::string digits;
  for (const uint32_t word : state) {
    char eight[9];
    snprintf(eight, sizeof eight, "%08x", word);
    digits += eight;
  }
  return digits;
}

} // namespace xiokv::host
