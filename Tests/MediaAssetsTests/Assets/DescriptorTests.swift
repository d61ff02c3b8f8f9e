import Glibc
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Assets with a file, pipe or socket that is already open.
@Suite(.timeLimit(.minutes(3))) struct DescriptorTests {
  private static let frameCount = 200_000

  private func wav(_ frameCount: Int = Self.frameCount) -> [UInt8] {
    IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: frameCount)
  }

  // MARK: - Files

  @Test func openFileIsReadFromItsFirstByteWhateverItsOffset() throws {
    let files = try TemporaryDirectory("descriptor")
    try write(wav(), to: files.file("a.wav"))
    let descriptor = open(files.file("a.wav"), O_RDONLY | O_CLOEXEC)
    #expect(lseek(descriptor, 1_000, SEEK_SET) == 1_000)
    let duplicate = dup(descriptor)
    defer { close(duplicate) }
    let asset = try Asset(fileDescriptor: descriptor)
    // The file has no name any more.
    unlink(files.file("a.wav"))
    let properties = try asset.load()
    #expect(properties.duration == MediaTime(value: Int64(Self.frameCount), timescale: 48_000))
    #expect(properties.isSeekable && !asset.isRemote)
    // Readers are independent.
    let whole = try AudioTrackReader(asset: Asset(data: wav()))
    let (first, second) = (try AudioTrackReader(asset: asset), try AudioTrackReader(asset: asset))
    for seconds in [3, 0, 2] {
      let time = MediaTime(value: Int64(seconds), timescale: 1)
      for reader in [first, second, whole] {
        #expect(try reader.seekExactly(to: time) == time)
      }
      let expected = try whole.readFrames(20_000).samples
      #expect(try first.readFrames(20_000).samples == expected)
      #expect(try second.readFrames(20_000).samples == expected)
    }
    #expect(lseek(duplicate, 0, SEEK_CUR) == 1_000)
  }

  @Test func descriptorIsClosedWithItsLastUser() throws {
    let files = try TemporaryDirectory("descriptor")
    try write(wav(480), to: files.file("a.wav"))
    let descriptor = open(files.file("a.wav"), O_RDONLY | O_CLOEXEC)
    var asset: Asset? = try Asset(fileDescriptor: descriptor)
    let path = "/proc/self/fd/\(descriptor)"
    #expect(try #require(asset).load().isPlayable)
    #expect(readLink(path) == files.file("a.wav"))
    asset = nil
    #expect(readLink(path) != files.file("a.wav"))
  }

  @Test func unreadableDescriptorIsRejectedAndStaysOpen() throws {
    let files = try TemporaryDirectory("descriptor")
    try write(wav(480), to: files.file("a.wav"))
    var pair: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &pair) == 0)
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    let pathOnly: Int32 = 0o10_000_000
    let rows: [(Int32, String)] = [
      (open(files.path, O_RDONLY), "is a folder"),
      (open(files.file("a.wav"), O_WRONLY), "is not open for reading"),
      (open(files.file("a.wav"), pathOnly), "is not open for reading"),
      (open("/dev/null", O_RDONLY), "is not a file, pipe or socket"), (terminal, "is a terminal"),
      (pair[0], "is not a connected stream socket"), (listener, "is not a connected stream socket"),
    ]
    for (descriptor, message) in rows {
      #expect(descriptor >= 0)
      let error = expectError(.notReadable) { try Asset(fileDescriptor: descriptor, name: "fd:1") }
      #expect(error?.message == "fd:1 \(message)")
      #expect(close(descriptor) == 0)
    }
    close(pair[1])
    let error = #expect(throws: MediaError.self) { try Asset(fileDescriptor: -1) }
    #expect(error?.message == "descriptor -1 is not an open descriptor")
  }

  // MARK: - Pipes

  @Test(arguments: ["a.wav", "a.mp3", "a.flac", "a.ogg", "a.mka", "a.aac"])
  func pipeHasTheSameSamplesAsTheFile(name: String) throws {
    let files = try TemporaryDirectory("descriptor")
    try write(wav(), to: files.file("a.wav"))
    if name != "a.wav" { try Tool.ffmpeg(arguments: ["-i", files.file("a.wav"), files.file(name)]) }
    let bytes = try readFile(files.file(name))
    let (asset, writer) = try pipe(writing: bytes)
    #expect(try !asset.load().isSeekable)
    #expect(try asset.load().duration.isIndefinite)
    let reader = try AudioTrackReader(asset: asset)
    let file = try AudioTrackReader(asset: Asset(data: bytes))
    let expected = try file.readFrames(Self.frameCount + 10_000).samples
    let samples = try reader.readFrames(Self.frameCount + 10_000).samples
    // The writer cannot state the length afterwards, so not all formats remove the decoder's padding.
    #expect(samples.count >= expected.count, "\(name)")
    #expect(samples.prefix(expected.count) == expected[...], "\(name)")
    #expect(writer.wait() == .wrote(bytes.count))
    // The pipe has ended, and its short content can be read again.
    let again = try AudioTrackReader(asset: asset)
    #expect(try again.readFrames(1_000).samples == Array(expected.prefix(2_000)))
  }

  @Test func socketIsReadAsAStream() throws {
    var pair: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let asset = try Asset(fileDescriptor: pair[0])
    let writer = Writer(pair[1], .bytes(wav(4_800)))
    let reader = try AudioTrackReader(asset: asset)
    #expect(try reader.readFrames(10_000).samples.count == 9_600)
    #expect(writer.wait() == .wrote(44 + 4_800 * 4))
  }

  @Test func endlessPipeUsesBoundedMemoryWithoutReadAhead() throws {
    var head = wav(0)
    // Like a writer that does not know the length.
    head.replaceSubrange(4..<8, with: [0xFF, 0xFF, 0xFF, 0xFF])
    head.replaceSubrange(40..<44, with: [0xFF, 0xFF, 0xFF, 0xFF])
    var ends: [Int32] = [-1, -1]
    #expect(Glibc.pipe(&ends) == 0)
    let writer = Writer(ends[1], .endless(head))
    var asset: Asset? = try Asset(fileDescriptor: ends[0])
    do {
      let reader = try AudioTrackReader(asset: #require(asset))
      var frameCount = 0
      while frameCount < 3_000_000 {
        let count = try reader.readFrames(100_000).samples.count / 2
        try #require(count > 0)
        frameCount += count
        let present = try #require(asset?.availableByteRange)
        #expect(present.count <= DescriptorStream.windowByteCount)
        // The requested data, a demuxer's buffer, and one read of the pipe.
        #expect(present.upperBound <= Int64(frameCount * 4 + 1_000_000))
      }
      expectError(.onlyInOrder) { try AudioTrackReader(asset: try #require(asset)) }
    }
    // The reader is released, and the pipe cannot be read again: the writer gets an error.
    #expect(writer.wait() == .failed(EPIPE))
    asset = nil
  }

  @Test func openingAnIdlePipeIsCancelledWithoutLosingData() throws {
    var ends: [Int32] = [-1, -1]
    #expect(Glibc.pipe(&ends) == 0)
    let asset = try Asset(fileDescriptor: ends[0])
    let opening = AssetOpening()
    let result = ConditionMutex<MediaError.Code?>(nil)
    NamedThread.detached(name: "opens") {
      do throws(MediaError) {
        _ = try opening.load(asset)
        result.update { $0 = .invalidState }
      } catch {
        result.update { $0 = error.code }
      }
    }
    #expect(result.withState { $0 } == nil)
    opening.cancel()
    #expect(result.wait { $0 } == .cancelled)
    // No data was lost.
    let writer = Writer(ends[1], .bytes(wav(480)))
    #expect(try AudioTrackReader(asset: asset).readFrames(1_000).samples.count == 960)
    #expect(writer.wait() == .wrote(44 + 480 * 4))
  }

  @Test func earlyEndOfAPipeEndsTheAudio() throws {
    let bytes = Array(wav().prefix(44 + 48_000 * 4))
    let (asset, writer) = try pipe(writing: bytes)
    let reader = try AudioTrackReader(asset: asset)
    #expect(try reader.readFrames(Self.frameCount).samples.count == 96_000)
    #expect(writer.wait() == .wrote(bytes.count))
    expectError(.onlyInOrder) { try reader.seekExactly(to: .zero) }
  }

  @Test func pipeWithoutMediaIsAnErrorAndItsWriterFails() throws {
    let (nothing, _) = try pipe(writing: [])
    #expect(errorCode { _ = try nothing.load() } == 3001 || errorCode { _ = try nothing.load() } == 3002)
    let (text, writer) = try pipe(writing: [UInt8](repeating: 0x41, count: 4 << 20))
    expectError(.unknownFormat) { try text.load() }
    #expect(writer.wait() == .failed(EPIPE))
  }

  // MARK: - Support

  private func pipe(writing bytes: [UInt8]) throws -> (Asset, Writer) {
    var ends: [Int32] = [-1, -1]
    #expect(Glibc.pipe(&ends) == 0)
    return (try Asset(fileDescriptor: ends[0]), Writer(ends[1], .bytes(bytes)))
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    try #require(count == bytes.count)
  }

  private func readLink(_ path: String) -> String? {
    var name = [UInt8](repeating: 0, count: 4_096)
    let count = name.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink(path, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? -1
    }
    return count < 0 ? nil : String(decoding: name.prefix(count), as: UTF8.self)
  }
}

/// A thread that writes to a pipe, and closes it.
private final class Writer: Sendable {
  enum Content: Sendable {
    case bytes([UInt8])
    /// These bytes, then zeros until the pipe is closed.
    case endless([UInt8])
  }

  enum End: Equatable {
    case wrote(Int)
    /// Writing failed with this `errno`.
    case failed(Int32)
  }

  private let end = ConditionMutex<End?>(nil)

  init(_ descriptor: Int32, _ content: Content) {
    signal(SIGPIPE, SIG_IGN)
    let end = end
    NamedThread.detached(name: "writer") {
      var count = 0
      func write(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
          let written = bytes[done...].withUnsafeBytes { rest in
            rest.baseAddress.map { Glibc.write(descriptor, $0, rest.count) } ?? -1
          }
          if written < 0 { return false }
          done += written
        }
        count += bytes.count
        return true
      }
      var succeeded: Bool
      switch content {
      case .bytes(let bytes): succeeded = write(bytes)
      case .endless(let head):
        succeeded = write(head)
        let zeros = [UInt8](repeating: 0, count: 65_536)
        while succeeded { succeeded = write(zeros) }
      }
      let result = succeeded ? End.wrote(count) : .failed(errno)
      close(descriptor)
      end.update { $0 = result }
    }
  }

  func wait() -> End? { end.wait { $0 } }
}
