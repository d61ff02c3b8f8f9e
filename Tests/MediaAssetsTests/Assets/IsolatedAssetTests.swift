import Foundation
import MediaTesting
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Assets that a worker process opens and decodes equal those of this process.
@Suite struct IsolatedAssetTests {
  private static func asset(
    _ location: AssetLocation, _ isolation: Asset.Isolation, isPrecise: Bool = false
  ) -> Asset {
    Asset(location: location, prefersPreciseDuration: isPrecise, isolation: isolation)
  }

  /// Locations of the same bytes: a file, memory, and a byte source.
  private static func locations(_ path: String) throws -> [(name: String, location: AssetLocation)] {
    let bytes = try readFile(path)
    return [
      ("file", .path(Array(path.utf8))), ("memory", .data(bytes)),
      ("source", .source(name: path) { () throws(MediaError) in BytesInMemory(bytes) }),
    ]
  }

  @Test("a worker reads every format of the seek table like this process", arguments: SeekRow.all)
  func workerReadsEveryFormatLikeThisProcess(_ row: SeekRow) throws {
    let folder = try TemporaryFolder()
    let path = try row.make(in: folder)
    let location = AssetLocation.path(Array(path.utf8))
    for isPrecise in [false, true] {
      let (local, isolated) = (
        Self.asset(location, .none, isPrecise: isPrecise), Self.asset(location, .opening, isPrecise: isPrecise)
      )
      #expect(try isolated.load() == local.load(), "\(row.name)")
    }
    let (local, isolated) = (Self.asset(location, .none), Self.asset(location, .opening))
    #expect(
      try isolated.loadMetadata(interrupt: Interrupt()) == local.loadMetadata(interrupt: Interrupt()), "\(row.name)")
    let whole = try MetadataReader.read(try openFile(local, interrupt: Interrupt()), displayPath: path)
    #expect(try local.loadMetadata(interrupt: Interrupt()) == whole, "\(row.name): tags without stream information")
    let (one, other) = (try AudioTrackReader(asset: local), try AudioTrackReader(asset: isolated))
    #expect(one.format == other.format && one.trackID == other.trackID && one.channelMask == other.channelMask)
    let samples = try one.readToEnd()
    #expect(try other.readToEnd() == samples, "\(row.name): samples")
    #expect(one.end == other.end && one.startTrim == other.startTrim && one.endTrim == other.endTrim)
    #expect(one.popWarning()?.error == other.popWarning()?.error)
    let rate = Int64(one.format.sampleRateHz)
    for (time, tolerance) in [(3 * rate / 2, 0), (0, 0), (5 * rate, rate / 2), (rate * 60, 0), (7 * rate + 1, 0)] {
      let target = MediaTime(frame: time, rate: Int(rate))
      let reach = MediaTime(frame: tolerance, rate: Int(rate))
      let (first, second) = (
        try one.seek(to: target, toleranceBefore: reach, toleranceAfter: reach),
        try other.seek(to: target, toleranceBefore: reach, toleranceAfter: reach)
      )
      #expect(first == second && one.position == other.position, "\(row.name): \(time)")
      #expect(one.positionDoubt == other.positionDoubt)
      let (heard, isolatedHeard) = (try one.readFrames(5_000), try other.readFrames(5_000))
      #expect(heard.position == isolatedHeard.position, "\(row.name): \(time)")
      // Some decoders have state that a seek does not restore, so their output depends on earlier audio.
      if case .bitExact = row.expectation {
        #expect(heard.samples == isolatedHeard.samples, "\(row.name): \(time)")
      }
    }
    #expect(try one.exactFrameCount() == other.exactFrameCount())
  }

  @Test(arguments: ["flac", "mp3", "m4a", "opus", "wav"])
  func workerReadsFilesMemoryAndSourcesLikeThisProcess(_ ending: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.\(ending)")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "sine=duration=3:sample_rate=48000", "-metadata", "title=Größe", "-metadata", "artist=A",
      "-metadata", "track=3/12", path)
    for (name, location) in try Self.locations(path) {
      let (local, isolated) = (Self.asset(location, .none), Self.asset(location, .playback))
      #expect(try isolated.load() == local.load(), "\(name)")
      let metadata = try local.loadMetadata(interrupt: Interrupt())
      #expect(try isolated.loadMetadata(interrupt: Interrupt()) == metadata, "\(name)")
      #expect(ending == "wav" || metadata.strings(.title) == ["Größe"])
      for isPlayback in [false, true] {
        let readers = try [local, isolated].map { asset in
          try AudioTrackReader(
            asset: asset, interrupt: Interrupt(), kinds: .regularFiles, isPlayback: isPlayback)
        }
        #expect(try readers[0].readToEnd() == readers[1].readToEnd(), "\(name)")
        for seconds in [1.5, 0.25] {
          let time = MediaTime(seconds: seconds, preferredTimescale: 48_000)
          let positions = try readers.map { reader in (try reader.seekExactly(to: time), reader.positionDoubt) }
          #expect(positions[0] == positions[1], "\(name)")
        }
      }
    }
  }

  /// A process of its own, because all tests share the workers of this process.
  @Test func processThatOpensAssetsWithDefaultOptionsStartsNoWorker() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = try folder.write(IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: 4_800), as: "a.wav")
      let bytes = try readFile(path)
      func use(_ asset: Asset) throws {
        _ = try asset.load()
        _ = try asset.loadMetadata(interrupt: Interrupt())
        #expect(try AudioTrackReader(asset: asset).readToEnd().count == 9_600)
      }
      #expect(Asset.Isolation.standard == .none)
      let workers = try #require(WorkerPool.shared)
      try use(Asset(path: path))
      try use(Asset(path: Array(path.utf8)))
      try use(Asset(data: bytes))
      try use(Asset(name: "a.wav") { () throws(MediaError) in BytesInMemory(bytes) })
      #expect(workers.statistics.startedCount == 0 && workers.statistics.leaseCount == 0)
      // The same with the option.
      try use(Asset(path: Array(path.utf8), isolation: .opening))
      #expect(workers.statistics.startedCount >= 1)
    }
  }

  @Test func artworkFromAWorkerIsTheSame() throws {
    let folder = try TemporaryFolder()
    let (image, path) = (folder.file("a.png"), folder.file("a.mp3"))
    try Tool.ffmpeg("-f", "lavfi", "-i", "testsrc=size=320x240", "-frames:v", "1", image)
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "sine=duration=1", "-i", image, "-map", "0", "-map", "1", "-c:v", "copy", path)
    let location = AssetLocation.path(Array(path.utf8))
    let (local, isolated) = (Self.asset(location, .none), Self.asset(location, .opening))
    let expected = try local.loadArtwork()
    #expect(try isolated.loadArtwork().1 == expected.1)
    #expect(try expected.1.data == readFile(image))
  }

  @Test func workerReportsTheErrorsOfThisProcess() throws {
    let folder = try TemporaryFolder()
    let bytes: [[UInt8]] = [
      Array("this is no media file".utf8), [UInt8](repeating: 0, count: 5_000), [0x66], Array("fLaC".utf8),
      Array("RIFF\u{4}\0\0\0WAVE".utf8),
    ]
    for (index, bytes) in bytes.enumerated() {
      let path = try folder.write(bytes, as: "\(index).wav")
      for (name, location) in try Self.locations(path) {
        let errors = [Asset.Isolation.none, .opening].map { isolation in
          expectError(.unknownFormat) { try Self.asset(location, isolation).load() }
        }
        print("isolated errors | \(index) | \(name) | \(errors[0]?.code.name ?? "")")
        #expect(errors[0] == errors[1], "\(index) \(name)")
        let tags = [Asset.Isolation.none, .opening].map { isolation in
          expectError(.unknownFormat) {
            try Self.asset(location, isolation).loadMetadata(interrupt: Interrupt())
          }
        }
        #expect(tags[0] == tags[1], "\(index) \(name)")
      }
    }
  }

  @Test func readContinuesAfterACancellation() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: 480_000), as: "a.wav")
    for isPlayback in [false, true] {
      let asset = Self.asset(.path(Array(path.utf8)), .playback)
      _ = try asset.load()
      let reader = try AudioTrackReader(
        asset: asset, interrupt: Interrupt(), kinds: .regularFiles, isPlayback: isPlayback)
      let first = try reader.readFrames(10_000)
      reader.cancel()
      var frame: [Float] = [0, 0]
      #expect(try reader.read(into: &frame, capacityFrames: 1) == .cancelled)
      expectError(.cancelled) { try reader.seekExactly(to: .zero) }
      reader.resetCancellation()
      _ = try reader.seekExactly(to: MediaTime(frame: 10_000, rate: 48_000))
      let rest = try reader.readToEnd()
      let whole = try AudioTrackReader(asset: Self.asset(.path(Array(path.utf8)), .none)).readToEnd()
      #expect(first.samples + rest == whole)
    }
  }

  @Test func cancellationEndsAReadThatWaitsForBytes() throws {
    let bytes = IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: 480_000)
    let source = GatedBytes(bytes, gate: 600_000)
    let asset = Self.asset(.source(name: "a.wav") { () throws(MediaError) in source }, .playback)
    _ = try asset.load()
    let reader = try AudioTrackReader(asset: asset, interrupt: Interrupt(), kinds: .regularFiles, isPlayback: true)
    source.onBlocked { [weak reader] in reader?.cancel() }
    var buffer = [Float](repeating: 0, count: 2 * 4_096)
    var frameCount = 0
    while case .frames(let count, _) = try reader.read(into: &buffer, capacityFrames: 4_096) { frameCount += count }
    #expect(frameCount < 480_000)
    source.openGate()
    reader.resetCancellation()
    _ = try reader.seekExactly(to: .zero)
    #expect(try reader.readToEnd().count == 960_000)
  }

  @Test func implausiblePropertiesFromAWorkerAreRejected() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: 4_800), as: "a.wav")
    let properties = try Self.asset(.path(Array(path.utf8)), .none).load()
    #expect(properties.isPlausible)
    #expect(!properties.withTracks(properties.tracks, audioTrackID: 1).isPlausible)
    #expect(!properties.withTracks([], audioTrackID: 0).isPlausible)
    #expect(!properties.withTracks(properties.tracks + properties.tracks, audioTrackID: 0).isPlausible)
    let bytes = MessageEncoder.bytes(of: properties)
    #expect(try MessageDecoder.value(AssetProperties.self, from: bytes) == properties)
    for index in bytes.indices {
      for wrong in [0x7F, 0x80, 0xFF] as [UInt8] {
        var other = bytes
        other[index] = wrong
        guard let changed = try? MessageDecoder.value(AssetProperties.self, from: other), changed.isPlausible else {
          continue
        }
        // Every value that is accepted can be used: nothing traps.
        _ = changed.withAudioEnd(MediaTime(value: 1, timescale: 1))
        _ = (changed.audioEdits, changed.isPlayable, changed.isComposable)
      }
    }
  }
}

/// Bytes that do not arrive from an offset on, until a gate is opened or the read is cancelled.
private final class GatedBytes: ByteSource {
  private struct State {
    var isOpen = false
    var isCancelled = false
    var isBlocked: (@Sendable () -> Void)?
  }

  private let bytes: [UInt8]
  private let gate: Int64
  private let state = Mutex(State())
  private let changed = DispatchSemaphore(value: 0)
  var byteCount: Int64? { Int64(bytes.count) }
  let isSeekable = true

  init(_ bytes: [UInt8], gate: Int64) { (self.bytes, self.gate) = (bytes, gate) }

  func onBlocked(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.isBlocked = body } }
  func openGate() { state.withLock { $0.isOpen = true } }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    while offset >= gate {
      let now = state.withLock { $0 }
      if now.isOpen { break }
      if now.isCancelled { throw MediaError(.cancelled, "cancelled") }
      now.isBlocked?()
      changed.wait()
    }
    let end = offset < gate ? min(Int(gate), bytes.count) : bytes.count
    let rest = bytes[..<end].dropFirst(Int(offset)).prefix(buffer.count)
    buffer.copyBytes(from: rest)
    return rest.count
  }

  func cancel() {
    state.withLock { $0.isCancelled = true }
    changed.signal()
  }

  func resume() { state.withLock { $0.isCancelled = false } }
}
