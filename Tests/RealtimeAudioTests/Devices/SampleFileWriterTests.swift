import Glibc
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadRealtimeAudio

@Suite struct SampleFileWriterTests {
  private func encode(_ samples: [Float], as encoding: SampleEncoding) -> [UInt8] {
    var bytes: [UInt8] = []
    encoding.encode(samples, count: samples.count, into: &bytes)
    return bytes
  }

  @Test func sixteenBitSamplesAreRoundedToEvenAndClamped() {
    let unit: Float = 1 / 32_768
    let samples: [Float] = [
      0, unit, -unit, 0.5 * unit, 1.5 * unit, -0.5 * unit, 32_767 * unit, 1, -1, 2, -2, .infinity, -.infinity, .nan,
    ]
    let expected: [Int16] = [0, 1, -1, 0, 2, 0, 32_767, 32_767, -32_768, 32_767, -32_768, 32_767, -32_768, 0]
    let bytes = expected.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    #expect(encode(samples, as: .s16) == bytes)
  }

  @Test func twentyFourBitSamplesAreExactAndClamped() {
    let samples: [Float] = [1 / 8_388_608, -1 / 8_388_608, 8_388_607 / 8_388_608, 1, -1, 0x01_02_03 / 8_388_608]
    #expect(
      encode(samples, as: .s24) == [
        1, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0x7F, 0, 0, 0x80, 0x03, 0x02, 0x01,
      ])
  }

  @Test func floatSamplesAreWrittenBitForBit() {
    let samples: [Float] = [1, -0.0, .nan, 3.5]
    let bytes = samples.flatMap { sample in (0..<4).map { UInt8(truncatingIfNeeded: sample.bitPattern >> ($0 * 8)) } }
    #expect(encode(samples, as: .f32) == bytes)
  }

  @Test func headerDescribesTheWrittenSamples() throws {
    let file = try TemporaryDirectory()
    let writer = SampleFileWriter(path: file.path("a.wav"), container: .wav, encoding: .s16)
    try writer.begin(format: AudioFormat(sampleRateHz: 44_100, channelCount: 2))
    try writer.write([1, -1, 0.5, -0.5], frameCount: 2)
    try writer.write([0, 0.25], frameCount: 1)
    writer.finish()
    writer.finish()
    let expected: [UInt8] =
      Array("RIFF".utf8) + [48, 0, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 2, 0, 0x44, 0xAC, 0, 0]
      + [0x10, 0xB1, 2, 0, 4, 0, 16, 0] + Array("data".utf8) + [12, 0, 0, 0]
      + [0xFF, 0x7F, 0, 0x80, 0, 0x40, 0, 0xC0, 0, 0, 0, 0x20]
    #expect(try file.read("a.wav") == expected)
  }

  @Test func headerIsWrittenAtTheStart() throws {
    let file = try TemporaryDirectory()
    let writer = SampleFileWriter(path: file.path("a.wav"), container: .wav, encoding: .f32)
    try writer.begin(format: AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    let bytes = try file.read("a.wav")
    #expect(bytes.count == 44)
    // IEEE float, 32 bits, and no data yet.
    #expect(Array(bytes[20..<24]) == [3, 0, 1, 0])
    #expect(Array(bytes[34..<36]) == [32, 0])
    #expect(Array(bytes[40..<44]) == [0, 0, 0, 0])
    writer.finish()
  }

  @Test func oddDataIsPadded() throws {
    let file = try TemporaryDirectory()
    let writer = SampleFileWriter(path: file.path("a.wav"), container: .wav, encoding: .s24)
    try writer.begin(format: AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    try writer.write([1 / 8_388_608, 0, 0], frameCount: 3)
    writer.finish()
    let bytes = try file.read("a.wav")
    #expect(bytes.count == 44 + 10)
    #expect(Array(bytes[4..<8]) == [46, 0, 0, 0])
    #expect(Array(bytes[40..<44]) == [9, 0, 0, 0])
    #expect(Array(bytes[44...]) == [1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  }

  @Test func existingFileIsOverwritten() throws {
    let file = try TemporaryDirectory()
    try file.write("a.wav", [UInt8](repeating: 7, count: 1_000))
    let writer = SampleFileWriter(path: file.path("a.wav"), container: .wav, encoding: .s16)
    try writer.begin(format: AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    writer.finish()
    #expect(try file.read("a.wav").count == 44)
  }

  @Test(arguments: [SampleFileWriter.Container.wav, .pipe])
  func missingDirectoryIsAnError(container: SampleFileWriter.Container) throws {
    let file = try TemporaryDirectory()
    let writer = SampleFileWriter(path: file.path("missing/a"), container: container, encoding: .s16)
    expectError(.writeFailed) { try writer.begin(format: AudioFormat(sampleRateHz: 48_000, channelCount: 1)) }
    writer.finish()
  }

  @Test func fullDeviceIsAnError() {
    let writer = SampleFileWriter(path: "/dev/full", container: .wav, encoding: .s16)
    expectError(.writeFailed) { try writer.begin(format: AudioFormat(sampleRateHz: 48_000, channelCount: 1)) }
    writer.finish()
  }

  @Test func fifoIsCreatedForItsOwnerOnly() throws {
    let file = try TemporaryDirectory()
    let writer = SampleFileWriter(path: file.path("p"), container: .pipe, encoding: .s16)
    try writer.begin(format: AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    var status = stat()
    #expect(stat(file.path("p"), &status) == 0)
    #expect(status.st_mode & S_IFMT == S_IFIFO)
    #expect(status.st_mode & 0o077 == 0)
    // Bare samples for the reader.
    let reader = open(file.path("p"), O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    try writer.write([0.5, -0.5], frameCount: 2)
    var bytes = [UInt8](repeating: 0, count: 16)
    #expect(read(reader, &bytes, 16) == 4)
    #expect(Array(bytes.prefix(4)) == [0, 0x40, 0, 0xC0])
    writer.finish()
    #expect(read(reader, &bytes, 16) == 0)
  }

  @Test func existingFifoIsUsed() throws {
    let file = try TemporaryDirectory()
    #expect(mkfifo(file.path("p"), 0o600) == 0)
    let writer = SampleFileWriter(path: file.path("p"), container: .pipe, encoding: .s16)
    try writer.begin(format: AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    writer.finish()
  }

  @Test func regularFileIsNotUsedAsAFifo() throws {
    let file = try TemporaryDirectory()
    try file.write("p", [1, 2, 3])
    let writer = SampleFileWriter(path: file.path("p"), container: .pipe, encoding: .s16)
    expectError(.outputConfiguration) { try writer.begin(format: AudioFormat(sampleRateHz: 48_000, channelCount: 1)) }
    writer.finish()
    #expect(try file.read("p") == [1, 2, 3])
  }

  @Test func writeToAFullFifoWaitsUntilStopIsRequested() throws {
    let file = try TemporaryDirectory()
    let stopChecks = ConditionMutex(0)
    let writer = SampleFileWriter(path: file.path("p"), container: .pipe, encoding: .f32) {
      stopChecks.update { count in
        count += 1
        return count == 2
      }
    }
    try writer.begin(format: AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    // A pipe initially holds 64 KiB, and no reader reads.
    try writer.write(silence(100_000), frameCount: 100_000)
    #expect(stopChecks.withState { $0 } == 2)
    writer.finish()
  }
}

/// A temporary directory for one test, removed with this object.
final class TemporaryDirectory: Sendable {
  private let directory: String

  init() throws {
    var template = Array("/tmp/playhead-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw MediaError(.writeFailed, "mkdtemp failed") }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    if let folder = opendir(directory) {
      while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { unlink(path(name)) }
      }
      closedir(folder)
    }
    rmdir(directory)
  }

  func path(_ name: String) -> String { directory + "/" + name }

  func read(_ name: String) throws -> [UInt8] {
    let descriptor = open(path(name), O_RDONLY)
    guard descriptor >= 0 else { throw MediaError(.readFailed, "cannot open \(name)") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return bytes }
      bytes += chunk.prefix(count)
    }
  }

  func write(_ name: String, _ bytes: [UInt8]) throws {
    let descriptor = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw MediaError(.writeFailed, "cannot create \(name)") }
    defer { close(descriptor) }
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw MediaError(.writeFailed, "cannot write \(name)")
    }
  }
}
