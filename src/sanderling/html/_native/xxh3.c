/* XXH3-64 without a seed, as in the XXH3 specification: the hash that the `xxhash` package computes for the fallbacks
 * in Python. Little-endian machines with 128-bit products only; elsewhere the library is not compiled. */

#include <string.h>

#include "native.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "XXH3 reads words in little-endian order"
#endif

#define STRIPE 64
#define STRIPES_PER_BLOCK 16
#define BLOCK (STRIPE * STRIPES_PER_BLOCK)
#define MIN_SECRET 136

static const uint64_t PRIME32_1 = 0x9E3779B1, PRIME32_2 = 0x85EBCA77, PRIME32_3 = 0xC2B2AE3D;
static const uint64_t PRIME64_1 = UINT64_C(0x9E3779B185EBCA87), PRIME64_2 = UINT64_C(0xC2B2AE3D27D4EB4F),
                      PRIME64_3 = UINT64_C(0x165667B19E3779F9), PRIME64_4 = UINT64_C(0x85EBCA77C2B2AE63),
                      PRIME64_5 = UINT64_C(0x27D4EB2F165667C5);

/* Default secret of the specification. */
static const uint8_t SECRET[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

static uint64_t read_32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t read_64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t rotate(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

__extension__ typedef unsigned __int128 Product;

static uint64_t multiply_fold(uint64_t a, uint64_t b) {
    Product product = (Product)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t avalanche(uint64_t hash) {
    hash = (hash ^ hash >> 37) * UINT64_C(0x165667919E3779F9);
    return hash ^ hash >> 32;
}

static uint64_t avalanche_xxh64(uint64_t hash) {
    hash = (hash ^ hash >> 33) * PRIME64_2;
    hash = (hash ^ hash >> 29) * PRIME64_3;
    return hash ^ hash >> 32;
}

static uint64_t mix_16(const uint8_t *input, const uint8_t *secret) {
    return multiply_fold(read_64(input) ^ read_64(secret), read_64(input + 8) ^ read_64(secret + 8));
}

static uint64_t hash_up_to_16(const uint8_t *input, size_t length) {
    if (length > 8) {
        uint64_t low = read_64(input) ^ read_64(SECRET + 24) ^ read_64(SECRET + 32);
        uint64_t high = read_64(input + length - 8) ^ read_64(SECRET + 40) ^ read_64(SECRET + 48);
        return avalanche(length + __builtin_bswap64(low) + high + multiply_fold(low, high));
    }
    if (length >= 4) {
        uint64_t hash = (read_32(input + length - 4) + (read_32(input) << 32)) ^ read_64(SECRET + 8) ^ read_64(SECRET + 16);
        hash = (hash ^ rotate(hash, 49) ^ rotate(hash, 24)) * UINT64_C(0x9FB21C651E98DF25);
        hash = (hash ^ ((hash >> 35) + length)) * UINT64_C(0x9FB21C651E98DF25);
        return hash ^ hash >> 28;
    }
    if (!length)
        return avalanche_xxh64(read_64(SECRET + 56) ^ read_64(SECRET + 64));
    uint64_t combined = (uint64_t)input[0] << 16 | (uint64_t)input[length >> 1] << 24 | input[length - 1] | length << 8;
    return avalanche_xxh64(combined ^ read_32(SECRET) ^ read_32(SECRET + 4));
}

static uint64_t hash_up_to_128(const uint8_t *input, size_t length) {
    uint64_t sum = length * PRIME64_1;
    for (size_t pair = 0; pair <= (length - 1) / 32; pair++)
        sum += mix_16(input + 16 * pair, SECRET + 32 * pair) +
               mix_16(input + length - 16 * (pair + 1), SECRET + 32 * pair + 16);
    return avalanche(sum);
}

static uint64_t hash_up_to_240(const uint8_t *input, size_t length) {
    uint64_t sum = length * PRIME64_1;
    for (size_t i = 0; i < 8; i++)
        sum += mix_16(input + 16 * i, SECRET + 16 * i);
    sum = avalanche(sum);
    for (size_t i = 8; i < length / 16; i++)
        sum += mix_16(input + 16 * i, SECRET + 16 * (i - 8) + 3);
    return avalanche(sum + mix_16(input + length - 16, SECRET + MIN_SECRET - 17));
}

static void add_stripe(uint64_t *sums, const uint8_t *input, const uint8_t *secret) {
    for (int i = 0; i < 8; i++) {
        uint64_t value = read_64(input + 8 * i), key = value ^ read_64(secret + 8 * i);
        sums[i ^ 1] += value;
        sums[i] += (key & 0xFFFFFFFF) * (key >> 32);
    }
}

static void add_stripes(uint64_t *sums, const uint8_t *input, size_t count) {
    for (size_t i = 0; i < count; i++)
        add_stripe(sums, input + STRIPE * i, SECRET + 8 * i);
}

static uint64_t hash_long(const uint8_t *input, size_t length) {
    uint64_t sums[8] = {PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1};
    const uint8_t *last = input + length - STRIPE, *end_secret = SECRET + sizeof SECRET - STRIPE;
    size_t blocks = (length - 1) / BLOCK;
    uint64_t hash = length * PRIME64_1;
    for (; blocks; blocks--, input += BLOCK) {
        add_stripes(sums, input, STRIPES_PER_BLOCK);
        for (int i = 0; i < 8; i++)
            sums[i] = (sums[i] ^ sums[i] >> 47 ^ read_64(end_secret + 8 * i)) * PRIME32_1;
    }
    add_stripes(sums, input, (size_t)(last + STRIPE - 1 - input) / STRIPE);
    add_stripe(sums, last, end_secret - 7);
    for (int i = 0; i < 4; i++)
        hash += multiply_fold(sums[2 * i] ^ read_64(SECRET + 11 + 16 * i), sums[2 * i + 1] ^ read_64(SECRET + 19 + 16 * i));
    return avalanche(hash);
}

uint64_t sanderling_xxh3(const uint8_t *input, size_t length) {
    return length <= 16    ? hash_up_to_16(input, length)
           : length <= 128 ? hash_up_to_128(input, length)
           : length <= 240 ? hash_up_to_240(input, length)
                           : hash_long(input, length);
}
