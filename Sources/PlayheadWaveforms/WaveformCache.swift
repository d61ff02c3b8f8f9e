import Glibc
// Stores each waveform in a file of a folder. The file name contains the identity of the media file and the request.
// Incomplete files, and files of other versions of the format, are ignored.
import PlayheadFileAccess
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadWholeFiles

/// Stores waveforms by the identity of the media file: device, inode, length and change time. Blocks.
///
/// The size is bounded: the least recently used waveforms are removed first. If a write fails, the error is ignored,
/// and the waveform is not stored.
///
/// Threading: any thread.
public struct WaveformCache: Sendable {
  /// The identity of a file at one time.
  struct Identity: Sendable, Hashable {
    var device: UInt64
    var inode: UInt64
    var byteCount: Int64
    var seconds: Int64
    var nanoseconds: Int64
  }

  /// The absolute path of the folder, which is created on first use.
  public let folder: String
  /// The maximum size in bytes.
  public let byteLimit: Int

  /// Creates a cache in a folder that contains no other files. Default limit: 64 MiB.
  public init(folder: String, byteLimit: Int = 64 << 20) {
    self.folder = folder
    self.byteLimit = byteLimit
  }

  /// The identity of an asset's file; nil unless the asset is a regular file with a path.
  static func identity(of asset: Asset) -> Identity? {
    guard !asset.pathBytes.isEmpty else { return nil }
    let descriptor = ReadableFiles.roots.open(asset.pathBytes, FileRoots.pathOnlyFlag | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Identity(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), byteCount: Int64(status.st_size),
      seconds: Int64(status.st_ctim.tv_sec), nanoseconds: Int64(status.st_ctim.tv_nsec))
  }

  // MARK: - Reading

  /// Reads a stored waveform; nil if there is none.
  func waveform(_ identity: Identity, _ request: WaveformRequest) -> Waveform? {
    let path = path(identity, request)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= StoredWaveform.maximumByteCount
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      done += count
    }
    guard let waveform = StoredWaveform.waveform(bytes) else { return nil }
    // Marks the file as recently used.
    futimens(descriptor, nil)
    return waveform
  }

  /// The path for a request, with a name of less than 255 bytes.
  private func path(_ identity: Identity, _ request: WaveformRequest) -> String {
    let scale =
      switch request.scale {
      case nil: "auto"
      case .bins(let count)?: "b\(count)"
      case .framesPerBin(let count)?: "f\(count)"
      }
    func text(_ time: MediaTime) -> String { "\(time.value)_\(time.timescale)" }
    let parts: [String] = [
      "\(identity.device)", "\(identity.inode)", "\(identity.byteCount)", "\(identity.seconds)",
      "\(identity.nanoseconds)",
      scale, text(request.start), request.end.map(text) ?? "end", request.mixesChannels ? "mono" : "all",
      request.trackID.map { "\($0)" } ?? "auto",
    ]
    return "\(folder)/\(parts.joined(separator: "-")).waveform"
  }

  // MARK: - Writing

  /// Stores a waveform.
  func store(_ waveform: Waveform, _ identity: Identity, _ request: WaveformRequest) {
    let bytes = StoredWaveform.bytes(waveform)
    guard bytes.count <= byteLimit else { return }
    mkdir(folder, 0o700)
    freeSpace(for: bytes.count)
    let file = WholeFile(path: Array(path(identity, request).utf8), replaces: true, hint: "")
    // After a write error the waveform is measured again next time.
    try? file.write(bytes)
  }

  /// Removes the least recently used files until `byteCount` more bytes fit.
  private func freeSpace(for byteCount: Int) {
    guard let directory = opendir(folder) else { return }
    defer { closedir(directory) }
    var files: [(name: String, byteCount: Int, used: (Int, Int))] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      var status = stat()
      // Names that begin with a period are unfinished files of a crash.
      guard name.hasSuffix(".waveform") || name.hasPrefix("."), lstat("\(folder)/\(name)", &status) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { continue }
      files.append((name, Int(status.st_size), (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)))
    }
    var total = files.reduce(byteCount) { $0 + $1.byteCount }
    for file in files.sorted(by: { $0.used < $1.used }) where total > byteLimit {
      if unlink("\(folder)/\(file.name)") == 0 { total -= file.byteCount }
    }
  }
}

/// The stored form of a waveform: a magic number, integers of 8 bytes, the values, and a checksum.
enum StoredWaveform {
  /// Changes with each change of the format.
  private static let magicNumber = Array("PLAYWAV1".utf8)
  private static let numberCount = 6
  static let maximumByteCount = 8 + 8 * numberCount + 12 * Waveform.maximumPointCount + 8

  static func bytes(_ waveform: Waveform) -> [UInt8] {
    let (kind, value): (Int64, Int) =
      switch waveform.scale {
      case .bins(let count): (0, count)
      case .framesPerBin(let count): (1, count)
      }
    let numbers: [Int64] = [
      Int64(waveform.sampleRateHz), Int64(waveform.channelCount), waveform.firstFrame, waveform.frameCount, kind,
      Int64(value),
    ]
    var bytes = magicNumber
    bytes.reserveCapacity(magicNumber.count + 8 * numberCount + 12 * waveform.minima.count + 8)
    for number in numbers { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
    for values in [waveform.minima, waveform.maxima, waveform.rms] {
      values.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }
    let checksum = checksum(bytes[...])
    withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }

  static func waveform(_ bytes: [UInt8]) -> Waveform? {
    let headCount = magicNumber.count + 8 * numberCount
    guard bytes.count >= headCount + 8, bytes.starts(with: magicNumber) else { return nil }
    func number(at offset: Int) -> Int64 {
      bytes.withUnsafeBytes { Int64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Int64.self)) }
    }
    guard UInt64(bitPattern: number(at: bytes.count - 8)) == checksum(bytes.dropLast(8)) else { return nil }
    let numbers = (0..<numberCount).map { number(at: magicNumber.count + 8 * $0) }
    guard let rate = Int(exactly: numbers[0]), rate > 0, (1...64).contains(numbers[1]), numbers[2] >= 0, numbers[3] > 0,
      numbers[5] > 0
    else { return nil }
    let scale: WaveformScale = numbers[4] == 0 ? .bins(Int(numbers[5])) : .framesPerBin(Int(numbers[5]))
    let (count, overflow) = scale.binCount(frameCount: numbers[3]).multipliedReportingOverflow(by: Int(numbers[1]))
    guard !overflow, count <= Waveform.maximumPointCount, bytes.count == headCount + 12 * count + 8 else { return nil }
    func values(_ index: Int) -> [Float] {
      bytes.withUnsafeBytes { buffer in
        (0..<count).map { buffer.loadUnaligned(fromByteOffset: headCount + 4 * (index * count + $0), as: Float.self) }
      }
    }
    return Waveform(
      sampleRateHz: rate, channelCount: Int(numbers[1]), firstFrame: numbers[2], frameCount: numbers[3], scale: scale,
      minima: values(0), maxima: values(1), rms: values(2))
  }

  /// 64-bit FNV-1a, which detects corruption on the disk.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
