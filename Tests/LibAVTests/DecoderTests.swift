import Foundation
import Testing

@testable import PlayheadLibAV

/// Demuxer, packets, decoder and frames, on a generated file.
@Suite struct DecoderTests {
  /// Creates a mono WAV of 16 bits at 8 kHz, 1,000 frames, each with its index as its value.
  private func makeWAV() throws -> (path: [UInt8], url: URL) {
    var bytes = Array("RIFF".utf8)
    func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }
    append(UInt32(36 + 2_000))
    bytes += Array("WAVEfmt ".utf8)
    append(UInt32(16))
    append(UInt16(1))
    append(UInt16(1))
    append(UInt32(8_000))
    append(UInt32(16_000))
    append(UInt16(2))
    append(UInt16(16))
    bytes += Array("data".utf8)
    append(UInt32(2_000))
    for index in 0..<1_000 { append(Int16(index)) }
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("playhead-libav-\(UUID().uuidString).wav")
    try Data(bytes).write(to: url)
    return (Array(url.path.utf8), url)
  }

  @Test func demuxerAndDecoderDeliverAllFramesAndSeek() throws {
    let (path, url) = try makeWAV()
    defer { try? FileManager.default.removeItem(at: url) }
    let demuxer = try Demuxer(source: FileSource(path: path, interrupt: Interrupt()))
    #expect(demuxer.formatName == "wav")
    let stream = try #require(demuxer.streams.first)
    #expect(stream.mediaType == .audio && stream.codecName == "pcm_s16le" && stream.hasDecoder)
    #expect(stream.sampleRateHz == 8_000 && stream.channelCount == 1 && stream.durationTicks == 1_000)
    #expect(stream.timeBase == TimeBase(numerator: 1, denominator: 8_000))
    #expect(demuxer.preferredAudioStreamIndex == 0)

    let decoder = try Decoder(demuxer: demuxer, streamIndex: 0)
    let packet = try Packet()
    let frame = try Frame()
    #expect(try decoder.receive(into: frame) == .wouldBlock)
    var frames = 0
    while try demuxer.readPacket(into: packet) == .packet {
      #expect(try decoder.send(packet) == .accepted)
      while try decoder.receive(into: frame) == .frame {
        #expect(frame.pts == Int64(frames))
        #expect(frame.layout?.format == .signed16)
        frames += frame.frameCount
      }
    }
    #expect(frames == 1_000)
    #expect(try demuxer.readPacket(into: packet) == .endOfFile)
    #expect(try decoder.sendEndOfStream() == .accepted)
    #expect(try decoder.receive(into: frame) == .endOfStream)
    #expect(try decoder.sendEndOfStream() == .endOfStream)
    decoder.flush()
    #expect(try decoder.receive(into: frame) == .wouldBlock, "a flush permits new packets")

    try demuxer.seek(streamIndex: 0, earliest: .min + 1, target: 500, latest: 500)
    #expect(try demuxer.readPacket(into: packet) == .packet)
    #expect(packet.pts == 500)
    let second = try demuxer.reopened()
    #expect(try second.readPacket(into: packet) == .packet)
    #expect(packet.pts == 0)
  }

  @Test func cancelledReadReturnsCancelledAndReadingResumesAfterReset() throws {
    let (path, url) = try makeWAV()
    defer { try? FileManager.default.removeItem(at: url) }
    let interrupt = Interrupt()
    let demuxer = try Demuxer(source: FileSource(path: path, interrupt: interrupt))
    let packet = try Packet()
    interrupt.cancel()
    #expect(try demuxer.readPacket(into: packet) == .cancelled)
    interrupt.reset()
    #expect(try demuxer.readPacket(into: packet) == .packet)
    interrupt.cancel()
    #expect(throws: AVFailure.self) { _ = try Demuxer(source: FileSource(path: path, interrupt: interrupt)) }
  }

  @Test func failuresCarryTheFailedCallAndTheReason() {
    let failure = #expect(throws: AVFailure.self) {
      _ = try FileSource(path: Array("/nonexistent/file".utf8), interrupt: Interrupt())
    }
    #expect(failure?.kind == .noSuchFile && failure?.call == "open")
    #expect(failure?.text == "No such file or directory")
    #expect(AVFailure(invalidDataIn: "x").kind == .invalidData)
    #expect(AVFailure(cancelledIn: "x").kind == .cancelled)
    #expect(AVFailure(errno: EACCES, call: "x").kind == .permissionDenied)
    #expect(AVFailure(errno: ENOMEM, call: "x").kind == .limit)
    #expect(AVFailure(errno: ENOENT, call: "x").reason == "No such file or directory (errno 2)")
    #expect(AVFailure(invalidDataIn: "x").reason == "Invalid data found when processing input")
    #expect(AVFailure(code: -99_999_999, call: "x").reason == "unknown error -99999999")
  }

  @Test func demuxerClosesItsDescriptorWhenReleased() throws {
    let (path, url) = try makeWAV()
    defer { try? FileManager.default.removeItem(at: url) }
    func isFileOpenInThisProcess() throws -> Bool {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == url.path
      }
    }
    var demuxer: Demuxer? = try Demuxer(source: FileSource(path: path, interrupt: Interrupt()))
    demuxer = try demuxer?.reopened()
    #expect(try isFileOpenInThisProcess())
    demuxer = nil
    #expect(try !isFileOpenInThisProcess())
  }
}

@Suite struct TimeBaseTests {
  @Test func ticksAreRoundedAsRequestedAndOverflowIsNil() throws {
    let milliseconds = try #require(TimeBase(numerator: 1, denominator: 1_000))
    let frames = try #require(TimeBase(sampleRateHz: 44_100))
    #expect(frames.ticks(from: 1, of: milliseconds, rounding: .down) == 44)
    #expect(frames.ticks(from: 1, of: milliseconds, rounding: .up) == 45)
    #expect(frames.ticks(from: -1, of: milliseconds, rounding: .down) == -45)
    #expect(frames.ticks(from: 10, of: milliseconds, rounding: .nearest) == 441)
    #expect(frames.ticks(from: .max, of: milliseconds, rounding: .nearest) == nil)
    #expect(frames.ticks(from: .min, of: frames, rounding: .nearest) == nil)
  }

  @Test func timeBaseDividesAnotherOnlyIfItsTicksAreWholeFrames() throws {
    let frames = try #require(TimeBase(sampleRateHz: 48_000))
    #expect(try #require(TimeBase(numerator: 1, denominator: 96_000)).divides(frames))
    #expect(frames.divides(frames))
    #expect(try !#require(TimeBase(numerator: 1, denominator: 90_000)).divides(frames))
    #expect(TimeBase(numerator: 0, denominator: 1) == nil && TimeBase(sampleRateHz: 0) == nil)
  }
}
