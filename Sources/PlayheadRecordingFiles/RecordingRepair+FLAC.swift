import PlayheadMediaCore

extension RecordingRepair {
  /// RFC 9639: truncates the file after the last complete frame, and sets the sample count. The checksum of all samples
  /// stays unknown, which the RFC allows.
  static func repairFLAC(_ file: RepairedFile) throws(MediaError) -> Bool {
    let head = try file.bytes(at: 0, count: 42)
    guard head.count == 42, head[4] & 0x7f == 0 else { return false }
    var offset: Int64 = 4
    while true {
      let block = try file.bytes(at: offset, count: 4)
      guard block.count == 4 else { return false }
      offset += 4 + Int64(block[1]) << 16 + Int64(block[2]) << 8 + Int64(block[3])
      if block[0] & 0x80 != 0 { break }
    }
    // The last MiB contains the last complete frame: a frame has far fewer bytes.
    let tailStart = max(offset, file.byteCount - 1 << 20)
    guard tailStart < file.byteCount else { return false }
    let tail = try file.bytes(at: tailStart, count: Int(file.byteCount - tailStart))
    let blockFrames = Int64(head[10]) << 8 | Int64(head[11])
    guard let last = FLACFrames.lastCompleteFrame(in: tail, blockFrames: blockFrames), last.endFrame < 1 << 36 else {
      return false
    }
    try file.truncate(to: tailStart + Int64(last.end))
    // The count has 36 bits. Its first four share a byte with the bits per sample.
    var count = [UInt8](repeating: 0, count: 5)
    for index in 0..<5 { count[index] = UInt8(truncatingIfNeeded: last.endFrame >> Int64(8 * (4 - index))) }
    count[0] = count[0] & 0x0f | head[21] & 0xf0
    try file.write(count, at: 21)
    return true
  }
}

/// Finds frames of a FLAC stream by their sync codes and checksums.
enum FLACFrames {
  /// A complete frame: its end in the bytes, and the number of samples up to its end.
  struct CompleteFrame: Hashable {
    var end: Int
    var endFrame: Int64
  }

  /// The last frame with correct checksums; nil if there is none.
  static func lastCompleteFrame(in bytes: [UInt8], blockFrames: Int64) -> CompleteFrame? {
    var ends = [bytes.count]
    for start in bytes.indices.reversed() {
      guard let header = header(bytes[start...], blockFrames: blockFrames) else { continue }
      for end in ends where end - start > header.byteCount + 2 && hasValidChecksum(bytes[start..<end]) {
        return CompleteFrame(end: end, endFrame: header.firstFrame + header.frameCount)
      }
      // Some sync codes do not begin a frame, so the frame may end at one of the next few candidates.
      ends = [start] + ends.prefix(7)
    }
    return nil
  }

  /// A frame header (section 9.1); nil if there is none.
  private static func header(
    _ bytes: ArraySlice<UInt8>, blockFrames: Int64
  ) -> (byteCount: Int, firstFrame: Int64, frameCount: Int64)? {
    var rest = bytes
    guard rest.count >= 6, rest[rest.startIndex] == 0xff, rest[rest.startIndex + 1] & 0xfe == 0xf8 else { return nil }
    let countsFrames = bytes[bytes.startIndex + 1] & 1 == 1
    let (sizes, kinds) = (bytes[bytes.startIndex + 2], bytes[bytes.startIndex + 3])
    guard kinds & 1 == 0, kinds >> 4 <= 10, sizes & 0x0f != 0x0f, sizes >> 4 != 0 else { return nil }
    rest = rest.dropFirst(4)
    guard let number = codedNumber(&rest) else { return nil }
    var frameCount: Int64
    switch sizes >> 4 {
    case 1: frameCount = 192
    case 6:
      guard let byte = rest.popFirst() else { return nil }
      frameCount = Int64(byte) + 1
    case 7:
      guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
      frameCount = (Int64(high) << 8 | Int64(low)) + 1
    case let code where code <= 5: frameCount = 144 << Int64(code)
    case let code: frameCount = 1 << Int64(code)
    }
    switch sizes & 0x0f {
    case 12: rest = rest.dropFirst(1)
    case 13, 14: rest = rest.dropFirst(2)
    default: break
    }
    guard let checksum = rest.first, checksum8(bytes[bytes.startIndex..<rest.startIndex]) == checksum else {
      return nil
    }
    return (rest.startIndex + 1 - bytes.startIndex, countsFrames ? number : number * blockFrames, frameCount)
  }

  /// The coded number (as UTF-8, extended to 36 bits).
  private static func codedNumber(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
    guard let first = bytes.popFirst() else { return nil }
    guard first & 0x80 != 0 else { return Int64(first) }
    let length = (~first).leadingZeroBitCount
    guard (2...7).contains(length) else { return nil }
    var number = length >= 7 ? 0 : Int64(first) & (0x7f >> Int64(length))
    for _ in 1..<length {
      guard let byte = bytes.popFirst(), byte & 0xc0 == 0x80 else { return nil }
      number = number << 6 | Int64(byte & 0x3f)
    }
    return number
  }

  /// Whether the last two bytes are the CRC-16 of the other bytes.
  private static func hasValidChecksum(_ bytes: ArraySlice<UInt8>) -> Bool {
    // The CRC over data and its checksum is 0.
    var crc: UInt16 = 0
    for byte in bytes { crc = crc << 8 ^ table16[Int(crc >> 8 ^ UInt16(byte))] }
    return crc == 0
  }

  private static let table16: [UInt16] = (0..<256).map { value in
    var crc = UInt16(value) << 8
    for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x8005 : crc << 1 }
    return crc
  }

  private static func checksum8(_ bytes: ArraySlice<UInt8>) -> UInt8 {
    var crc: UInt8 = 0
    for byte in bytes {
      crc ^= byte
      for _ in 0..<8 { crc = crc & 0x80 != 0 ? crc << 1 ^ 0x07 : crc << 1 }
    }
    return crc
  }
}
