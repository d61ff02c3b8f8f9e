// Repairs a recording that a crash or a full disk cut short. The repair modifies the file itself, because a full disk
// has no space for a copy. The repair sets lengths in headers and truncates the incomplete end; all other data stays
// unchanged. Blocks.
import Glibc
import PlayheadMediaCore

/// Repair of each file format.
enum RecordingRepair {
  /// Repairs the file.
  ///
  /// - Returns: false if the file contains no audio, or is not of a format that a recorder writes.
  /// - Throws: `readFailed`, `writeFailed`.
  static func repair(_ descriptor: Int32) throws(MediaError) -> Bool {
    let file = try RepairedFile(descriptor)
    switch String(decoding: try file.bytes(at: 0, count: 4), as: UTF8.self) {
    case "RIFF", "RF64": return try repairWAV(file)
    case "caff": return try repairCAF(file)
    case "fLaC": return try repairFLAC(file)
    case "OggS": return try repairOgg(file)
    default:
      guard String(decoding: try file.bytes(at: 4, count: 4), as: UTF8.self) == "ftyp" else { return false }
      return try repairMovie(file)
    }
  }

  // MARK: - WAV

  /// RIFF: chunks with a name and a 32-bit length, little-endian; EBU Tech 3306 (RF64) for 4 GiB and more.
  private static func repairWAV(_ file: RepairedFile) throws(MediaError) -> Bool {
    var offset: Int64 = 12
    var frameByteCount: Int64 = 0
    var (factOffset, ds64Offset): (Int64?, Int64?) = (nil, nil)
    while offset + 8 <= file.byteCount {
      let head = try file.bytes(at: offset, count: 8)
      let name = String(decoding: head[..<4], as: UTF8.self)
      let length = Int64(head[4...].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
      switch name {
      case "fmt ":
        let format = try file.bytes(at: offset + 8, count: 16)
        guard format.count == 16 else { return false }
        frameByteCount = Int64(format[13]) << 8 | Int64(format[12])
      case "fact": factOffset = offset + 8
      case "JUNK", "ds64": if length >= 28 { ds64Offset = offset }
      case "data":
        guard frameByteCount > 0 else { return false }
        return try finishWAV(
          file, data: offset + 8, frameByteCount: frameByteCount, fact: factOffset, ds64: ds64Offset)
      default: break
      }
      offset += 8 + length + length % 2
    }
    return false
  }

  private static func finishWAV(
    _ file: RepairedFile, data: Int64, frameByteCount: Int64, fact: Int64?, ds64: Int64?
  ) throws(MediaError) -> Bool {
    let frameCount = (file.byteCount - data) / frameByteCount
    guard frameCount > 0 else { return false }
    let dataByteCount = frameCount * frameByteCount
    try file.truncate(to: data + dataByteCount)
    // Chunks begin at even offsets. If the disk has no room for the padding byte, no chunk follows.
    if dataByteCount % 2 == 1 { try? file.write([0], at: data + dataByteCount) }
    let riffByteCount = file.byteCount - 8
    let isLong = riffByteCount > Int64(UInt32.max)
    if let ds64, isLong {
      let counts = [riffByteCount, dataByteCount, frameCount].flatMap { bytes(UInt64($0)) }
      try file.write(Array("ds64".utf8) + bytes(UInt32(28)) + counts + bytes(UInt32(0)), at: ds64)
      try file.write(Array("RF64".utf8), at: 0)
    }
    try file.write(bytes(isLong ? .max : UInt32(riffByteCount)), at: 4)
    try file.write(bytes(isLong ? .max : UInt32(dataByteCount)), at: data - 4)
    if let fact { try file.write(bytes(UInt32(clamping: frameCount)), at: fact) }
    return true
  }

  private static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }

  // MARK: - CAF

  /// Apple's Core Audio Format specification: chunks with a name and a 64-bit length, big-endian.
  private static func repairCAF(_ file: RepairedFile) throws(MediaError) -> Bool {
    var offset: Int64 = 8
    var packetByteCount: Int64 = 0
    while offset + 12 <= file.byteCount {
      let head = try file.bytes(at: offset, count: 12)
      let length = Int64(bitPattern: head[4...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
      switch String(decoding: head[..<4], as: UTF8.self) {
      case "desc":
        packetByteCount = try file.bytes(at: offset + 12 + 16, count: 4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
      case "data":
        // The first four bytes are the edit count.
        let data = offset + 12 + 4
        guard packetByteCount > 0, file.byteCount >= data + packetByteCount else { return false }
        let byteCount = (file.byteCount - data) / packetByteCount * packetByteCount
        try file.truncate(to: data + byteCount)
        try file.write(bytes((byteCount + 4).bigEndian), at: offset + 4)
        return true
      default: break
      }
      guard length >= 0, length < file.byteCount else { return false }
      offset += 12 + length
    }
    return false
  }

  // MARK: - Ogg

  /// RFC 3533: each page has its length. The file ends with the last complete page.
  private static func repairOgg(_ file: RepairedFile) throws(MediaError) -> Bool {
    var (offset, lastOffset): (Int64, Int64) = (0, 0)
    var hasAudio = false
    while offset + 27 <= file.byteCount {
      let head = try file.bytes(at: offset, count: 27)
      guard head.starts(with: "OggS".utf8) else { break }
      let segments = try file.bytes(at: offset + 27, count: Int(head[26]))
      let end = offset + 27 + Int64(head[26]) + segments.reduce(0) { $0 + Int64($1) }
      guard segments.count == head[26], end <= file.byteCount else { break }
      // Header pages have position 0. A page on which no packet ends has -1.
      let position = head[6..<14].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      if position > 0, position != .max { hasAudio = true }
      (lastOffset, offset) = (offset, end)
    }
    guard hasAudio, lastOffset > 0 else { return false }
    try file.truncate(to: offset)
    return true
  }

  // MARK: - MP4

  /// ISO/IEC 14496-12: the movie index (`moov`), then fragments, each with an index (`moof`) and media (`mdat`).
  private static func repairMovie(_ file: RepairedFile) throws(MediaError) -> Bool {
    var (offset, end): (Int64, Int64) = (0, 0)
    var (hasIndex, hasFragment) = (false, false)
    while offset + 8 <= file.byteCount {
      let head = try file.bytes(at: offset, count: 16)
      let short = head.prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
      let long = head.dropFirst(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let length = short == 1 && head.count == 16 ? Int64(clamping: long) : short
      guard length >= 8, length <= file.byteCount - offset else { break }
      offset += length
      switch String(decoding: head[4..<8], as: UTF8.self) {
      case "moov": hasIndex = true
      case "mdat" where hasIndex: (hasFragment, end) = (true, offset)
      default: break
      }
    }
    guard hasFragment else { return false }
    try file.truncate(to: end)
    return true
  }
}

/// An open file under repair.
final class RepairedFile {
  private let descriptor: Int32
  private(set) var byteCount: Int64

  init(_ descriptor: Int32) throws(MediaError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure(.readFailed, "fstat") }
    (self.descriptor, byteCount) = (descriptor, Int64(status.st_size))
  }

  /// Bytes from `offset`; fewer at the end of the file.
  func bytes(at offset: Int64, count: Int) throws(MediaError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let readCount = bytes.withUnsafeMutableBytes { buffer in
        pread(descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset) + off_t(done))
      }
      if readCount < 0, errno == EINTR { continue }
      guard readCount >= 0 else { throw Self.failure(.readFailed, "pread") }
      if readCount == 0 { break }
      done += readCount
    }
    return Array(bytes[..<done])
  }

  func write(_ bytes: [UInt8], at offset: Int64) throws(MediaError) {
    var done = 0
    while done < bytes.count {
      let writtenCount = bytes.withUnsafeBytes { buffer in
        pwrite(descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset) + off_t(done))
      }
      if writtenCount < 0, errno == EINTR { continue }
      guard writtenCount > 0 else { throw Self.failure(.writeFailed, "pwrite") }
      done += writtenCount
    }
    byteCount = max(byteCount, offset + Int64(bytes.count))
  }

  func truncate(to byteCount: Int64) throws(MediaError) {
    guard byteCount < self.byteCount else { return }
    guard ftruncate(descriptor, off_t(byteCount)) == 0 else { throw Self.failure(.writeFailed, "ftruncate") }
    self.byteCount = byteCount
  }

  private static func failure(_ code: MediaError.Code, _ call: String) -> MediaError {
    let reason = String(cString: strerror(errno))
    return MediaError(
      code, "the unfinished recording cannot be repaired: \(reason)", operation: call, underlying: reason)
  }
}
