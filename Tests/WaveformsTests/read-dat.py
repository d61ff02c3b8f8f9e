#!/usr/bin/python3
"""Reads a waveform file of audiowaveform's (.dat, version 2) by the text of its format alone, and prints it as lines of numbers.

The first line is the header (version, flags, sample rate, samples per pixel, length, channels), the others are the values.
"""

import struct
import sys

data = open(sys.argv[1], "rb").read()
header = struct.unpack_from("<iIiiIi", data)
print(*header)
version, flags, _, _, length, channels = header
assert version == 2 and flags in (0, 1)
kind = "b" if flags else "h"
count = 2 * length * channels
assert len(data) == 24 + count * struct.calcsize(kind), len(data)
for value in struct.unpack_from(f"<{count}{kind}", data, 24):
    print(value)
