import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// An asset's packet index: built once, shared, bounded, and discarded when the file changes.
@Suite struct PacketIndexTests {
  private static let audioSource = "aevalsrc=0.4*sin(2*PI*(200+50*t)*t)+0.1*random(0):d=40:s=44100"

  private func makeFile(_ folder: TemporaryFolder, _ name: String, _ options: String...) throws -> String {
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", Self.audioSource] + options + [folder.file(name)])
    return folder.file(name)
  }

  private static let identity = FileIdentity(
    device: 1, inode: 2, byteCount: 3, modifiedSeconds: 4, modifiedNanoseconds: 5)

  // MARK: - The index

  @Test func lookupFindsTheNearestEarlierEntry() {
    let index = PacketIndex(identity: Self.identity, streamIndex: 0, firstByte: 100, spacingFrames: 10)
    for frame in stride(from: Int64(0), to: 1_000, by: 3) {
      index.add(PacketIndex.Entry(byte: 100 + frame * 7, frame: frame))
    }
    #expect(index.entry(atOrBefore: -1) == PacketIndex.Entry(byte: 100, frame: 0))
    #expect(index.entry(atOrBefore: 0).frame == 0)
    #expect(index.entry(atOrBefore: 11).frame == 0)
    #expect(index.entry(atOrBefore: 12).frame == 12)
    #expect(index.entry(atOrBefore: 500).frame == 492)
    #expect(index.entry(atOrBefore: .max) == index.tail.last)
    // Entries that go backwards, or do not advance in the file, are rejected.
    let before = index.entryCount
    index.add(PacketIndex.Entry(byte: 200, frame: 5_000))
    index.add(PacketIndex.Entry(byte: .max, frame: 20))
    #expect(index.entryCount == before)
  }

  @Test func indexMemoryIsBounded() {
    let index = PacketIndex(identity: Self.identity, streamIndex: 0, firstByte: 0, spacingFrames: 1)
    let count = Int64(PacketIndex.maximumEntryCount) * 5
    for number in 0..<count { index.add(PacketIndex.Entry(byte: number * 2, frame: number)) }
    #expect(index.entryCount <= PacketIndex.maximumEntryCount)
    #expect(index.tail.spacingFrames == 8)
    for frame in [Int64(0), 1, 77_777, count / 2, count - 1] {
      let entry = index.entry(atOrBefore: frame)
      #expect(entry.byte == entry.frame * 2 && frame - entry.frame < 16)
    }
  }

  // MARK: - Use

  /// The first seek builds the index. Later seeks read only the decoded data, and one or two blocks.
  @Test(arguments: [["a.mp3", "-write_xing", "0", "-q:a", "4"], ["a.aac"], ["a.ogg"], ["a.ac3"]])
  func secondSeekReadsFewBytes(_ arguments: [String]) throws {
    let folder = try TemporaryFolder()
    let path = folder.file(arguments[0])
    try Tool.ffmpeg(
      arguments: ["-stream_loop", "3", "-i", try makeFile(folder, "a.wav")] + arguments.dropFirst() + [path])
    let fileByteCount = Int64(try readFile(path).count)
    #expect(fileByteCount > 1_000_000)
    let asset = Asset(path: path)
    let first = try AudioTrackReader(asset: asset)
    try first.seekExactly(to: MediaTime(value: 155, timescale: 1))
    // Another reader of the same asset uses the index, too.
    let second = try AudioTrackReader(asset: asset)
    for seconds in [130, 40, 150, 90] {
      let before = second.media.reader.demuxer.source.readByteCount
      try second.seekExactly(to: MediaTime(value: Int64(seconds), timescale: 1))
      #expect(try second.readFrames(100).position == Int64(seconds) * 44_100)
      let read = second.media.reader.demuxer.source.readByteCount - before
      #expect(read > 0 && read < 500_000, "\(seconds): \(read) of \(fileByteCount) bytes")
    }
  }

  @Test(arguments: ["a.mp3", "a.aac", "a.ac3"])
  func indexEntriesEqualThePositionsOfPackets(_ name: String) throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(folder, name)
    let asset = Asset(path: path)
    let reader = try AudioTrackReader(asset: asset)
    try reader.seekExactly(to: MediaTime(value: 39, timescale: 1))
    let source = reader.media.reader.demuxer.source
    let identity = try #require(try source.identity())
    let start = try #require(reader.media.reader.packetPositions.firstPacket?.byte)
    let index = asset.packetIndex(identity: identity, streamIndex: 0, firstByte: start, spacingFrames: 44_100)
    #expect((35...40).contains(index.entryCount))

    let demuxer = try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
    let packet = try Packet()
    let packetFrames: Int64 = name == "a.aac" ? 1_024 : name == "a.ac3" ? 1_536 : 1_152
    var frame: Int64 = 0
    var found = 0
    while try demuxer.readPacket(into: packet) == .packet {
      let entry = index.entry(atOrBefore: frame)
      if entry.frame == frame {
        #expect(entry.byte == packet.bytePosition)
        found += 1
      } else {
        #expect(entry.frame < frame && entry.byte < packet.bytePosition ?? 0)
      }
      frame += packetFrames
    }
    #expect(found == index.entryCount, "every entry is a packet")
  }

  @Test func sequentialReadBuildsTheIndex() throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try makeFile(folder, "a.ac3"))
    let reader = try AudioTrackReader(asset: asset)
    // After the first seek the reader counts frames.
    try reader.seekExactly(to: MediaTime(value: 1, timescale: 1))
    #expect(try reader.readToEnd().count > 39 * 44_100)
    let other = try AudioTrackReader(asset: asset)
    let before = other.media.reader.demuxer.source.readByteCount
    try other.seekExactly(to: MediaTime(value: 37, timescale: 1))
    #expect(other.media.reader.demuxer.source.readByteCount - before < 200_000)
  }

  @Test func replacedFileGetsANewIndex() throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(folder, "a.mp3", "-write_xing", "0", "-b:a", "64k")
    let other = try makeFile(folder, "b.mp3", "-write_xing", "0", "-b:a", "96k")
    let expected = try AudioTrackReader(asset: Asset(path: other)).readToEnd()
    let asset = Asset(path: path)
    let reader = try AudioTrackReader(asset: asset)
    try reader.seekExactly(to: MediaTime(value: 35, timescale: 1))
    // Overwritten directly: same name, same inode, different bytes.
    let bytes = try readFile(other)
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(bytes))
    try file.close()
    let fresh = try AudioTrackReader(asset: asset)
    for target in [1_600_000, 500_000] {
      try fresh.seekExactly(to: MediaTime(frame: Int64(target), rate: 44_100))
      let (position, samples) = try fresh.readFrames(2_000)
      let isSame = samples == Array(expected[target..<(target + 2_000)])
      #expect(position == Int64(target) && isSame)
    }
  }

  @Test func readsFollowAFileThatGrowsAndShrinks() throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(folder, "a.mp3", "-write_xing", "0", "-id3v2_version", "0", "-b:a", "64k")
    let whole = try readFile(path)
    let expected = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    try folder.write(Array(whole.prefix(whole.count / 2)), as: "b.mp3")
    let asset = Asset(path: folder.file("b.mp3"))
    let reader = try AudioTrackReader(asset: asset)
    let beyond = MediaTime(value: 35, timescale: 1)
    let end = try reader.seekExactly(to: beyond)
    #expect(end > MediaTime(value: 19, timescale: 1) && end < MediaTime(value: 21, timescale: 1), "clamped to the end")
    #expect(try reader.readFrames(1).position == nil)
    // The file grows.
    let file = try #require(FileHandle(forWritingAtPath: folder.file("b.mp3")))
    try file.seekToEnd()
    try file.write(contentsOf: Data(whole.suffix(from: whole.count / 2)))
    #expect(try reader.seekExactly(to: beyond) == beyond)
    let (position, samples) = try reader.readFrames(2_000)
    let isSame = samples == Array(expected[1_543_500..<1_545_500])
    #expect(position == 1_543_500 && isSame)
    // The file shrinks.
    try file.truncate(atOffset: UInt64(whole.count / 4))
    try file.close()
    let shrunk = try reader.seekExactly(to: beyond)
    #expect(shrunk > MediaTime(value: 9, timescale: 1) && shrunk < MediaTime(value: 11, timescale: 1))
    try reader.seekExactly(to: MediaTime(value: 5, timescale: 1))
    #expect(try reader.readFrames(10).samples == Array(expected[220_500..<220_510]))
  }

  /// Garbage between MP3 frames: the audio at a position equals that of a read from the start.
  @Test(arguments: [1, 2, 3, 4, 5, 6])
  func seeksInDamagedMP3LandAtTheRequestedPositions(_ seed: Int) throws {
    let folder = try TemporaryFolder()
    var bytes = try readFile(
      makeFile(folder, "a.mp3", "-q:a", "5", "-t", "12", "-write_xing", seed % 2 == 0 ? "0" : "1"))
    var random = SplitMix64(state: UInt64(seed))
    for _ in 0..<8 {
      let offset = Int.random(in: 4_000..<bytes.count, using: &random)
      let noise = (0..<Int.random(in: 1...3_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      if Bool.random(using: &random) {
        bytes.insert(contentsOf: noise, at: offset)
      } else {
        bytes.replaceSubrange(offset..<min(bytes.count, offset + noise.count), with: noise)
      }
    }
    let path = try folder.write(bytes, as: "damaged.mp3")
    let asset = Asset(path: path)
    let reference = try readUntilEndOrDamage(AudioTrackReader(asset: asset))
    #expect(reference.count > 9 * 44_100)
    let reader = try AudioTrackReader(asset: asset)
    var different = 0
    for _ in 0..<40 {
      let target = Int.random(in: 0..<(reference.count - 3_000), using: &random)
      let landed = try reader.seekExactly(to: MediaTime(frame: Int64(target), rate: 44_100))
      #expect(landed == MediaTime(frame: Int64(target), rate: 44_100))
      let (position, samples) = try reader.readFrames(3_000)
      #expect(position == Int64(target) && samples.count == 3_000)
      if samples != Array(reference[target..<(target + 3_000)]) { different += 1 }
    }
    // Next to a gap, the decoder's remaining state differs from that of a continuous read.
    #expect(different <= 4, "\(different) of 40 seeks")
  }

  /// All audio up to the end or an error.
  private func readUntilEndOrDamage(_ reader: AudioTrackReader) throws -> [Float] {
    var samples: [Float] = []
    let chunk = UnsafeMutablePointer<Float>.allocate(capacity: 4_096)
    defer { chunk.deallocate() }
    do {
      while case .frames(let count, _) = try reader.read(into: chunk, capacityFrames: 4_096) {
        samples += UnsafeBufferPointer(start: chunk, count: count)
      }
    } catch { guard error.code == .damagedFile else { throw error } }
    return samples
  }
}
