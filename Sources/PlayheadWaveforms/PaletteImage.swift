// An image with at most four colours, and its PNG encoding (W3C PNG, third edition). The encoder stores the pixels
// without compression, so that it needs no zlib.
import PlayheadMediaCore

/// An image with at most four colours.
struct PaletteImage {
  let width: Int
  let height: Int
  private let palette: [RGBColor]
  private let rowByteCount: Int
  /// The rows, two bits a pixel, the left pixel in the higher bits.
  private var rows: [UInt8]

  /// Creates an image filled with the first colour of the palette.
  init(width: Int, height: Int, palette: [RGBColor]) {
    precondition((1...4).contains(palette.count), "a palette has 1 to 4 colours")
    self.width = width
    self.height = height
    self.palette = palette
    rowByteCount = (width + 3) / 4
    rows = Array(repeating: 0, count: rowByteCount * height)
  }

  /// Sets the colour of a pixel to a colour of the palette; ignores pixels outside the image.
  mutating func setPixel(x: Int, y: Int, colorIndex: UInt8) {
    guard (0..<width).contains(x), (0..<height).contains(y) else { return }
    let shift = UInt8(6 - 2 * (x % 4))
    let index = y * rowByteCount + x / 4
    rows[index] = rows[index] & ~(3 << shift) | colorIndex << shift
  }

  /// Returns the palette index of a pixel's colour.
  func colorIndex(x: Int, y: Int) -> UInt8 { rows[y * rowByteCount + x / 4] >> UInt8(6 - 2 * (x % 4)) & 3 }

  // MARK: - Text

  /// The pixels of each character: five rows of three columns, starting at the top left.
  private static let glyphs: [Character: UInt16] = [
    "0": 0b111_101_101_101_111, "1": 0b010_110_010_010_111, "2": 0b111_001_111_100_111, "3": 0b111_001_111_001_111,
    "4": 0b101_101_111_001_001, "5": 0b111_100_111_001_111, "6": 0b111_100_111_101_111, "7": 0b111_001_010_010_010,
    "8": 0b111_101_111_101_111, "9": 0b111_101_111_001_111, ":": 0b000_010_000_010_000, ".": 0b000_000_000_000_010,
  ]

  /// Draws digits, colons and periods at double size.
  mutating func draw(_ text: String, x: Int, y: Int, colorIndex: UInt8) {
    for (index, character) in text.enumerated() {
      guard let glyph = Self.glyphs[character] else { continue }
      for bit in 0..<15 where glyph >> UInt16(14 - bit) & 1 == 1 {
        for pixel in 0..<4 {
          setPixel(
            x: x + 8 * index + 2 * (bit % 3) + pixel % 2, y: y + 2 * (bit / 3) + pixel / 2, colorIndex: colorIndex)
        }
      }
    }
  }

  // MARK: - PNG

  /// The image as a PNG file.
  var png: [UInt8] {
    var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    // Two bits a pixel, palette; deflate, one filter byte per row, not interlaced.
    Self.append("IHDR", Self.bigEndian(width) + Self.bigEndian(height) + [2, 3, 0, 0, 0], to: &bytes)
    Self.append("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] }, to: &bytes)
    Self.append("IDAT", data, to: &bytes)
    Self.append("IEND", [], to: &bytes)
    return bytes
  }

  /// The rows, each after its filter type (none), as a zlib stream of stored blocks (RFC 1950, 1951).
  private var data: [UInt8] {
    var raw: [UInt8] = []
    raw.reserveCapacity(rows.count + height)
    for row in 0..<height {
      raw.append(0)
      raw += rows[row * rowByteCount..<(row + 1) * rowByteCount]
    }
    var stream: [UInt8] = [0x78, 0x01]
    var done = 0
    while done < raw.count {
      let count = min(65_535, raw.count - done)
      stream.append(done + count == raw.count ? 1 : 0)
      for value in [UInt16(count), ~UInt16(count)] { stream += [UInt8(value & 0xff), UInt8(value >> 8)] }
      stream += raw[done..<done + count]
      done += count
    }
    return stream + Self.bigEndian(Int(Self.adler32(raw)))
  }

  /// The Adler-32 checksum of the uncompressed data (RFC 1950, section 8.2).
  private static func adler32(_ bytes: [UInt8]) -> UInt32 {
    var (s1, s2) = (UInt32(1), UInt32(0))
    for byte in bytes {
      s1 = (s1 + UInt32(byte)) % 65_521
      s2 = (s2 + s1) % 65_521
    }
    return s2 << 16 | s1
  }

  private static func append(_ kind: String, _ data: [UInt8], to bytes: inout [UInt8]) {
    let body = Array(kind.utf8) + data
    bytes += bigEndian(data.count) + body + bigEndian(Int(checksum(body)))
  }

  private static func bigEndian(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// The CRC-32 of a chunk.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { sum, byte in sum >> 8 ^ table[Int((sum ^ UInt32(byte)) & 0xff)] }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
  }
}
