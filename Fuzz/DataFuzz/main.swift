import Fuzzing
import PlayheadLibAV
import PlayheadMediaAssets
import PlayheadMediaCore

// Opens, reads and seeks any bytes as a media file in memory. The reader must not trap, hang or read out of bounds. Two
// properties hold for every input. The source returns the bytes that it was created with. A reader's frames are
// contiguous and begin at the position that a seek reported. The last eight bytes of an input determine the seek
// targets.

/// Maximum number of frames that are read: a file may declare a duration of days.
let longestRead: Int64 = 200_000

/// Reads up to `limit` frames and checks that they are contiguous.
func read(_ reader: AudioTrackReader, limit: Int64) {
  let channelCount = reader.format.channelCount
  var samples = [Float](repeating: 0, count: 4_096 * channelCount)
  let first = reader.position
  var expected = first
  while expected - first < limit {
    let result = samples.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { try? reader.read(into: $0, capacityFrames: 4_096) }
    }
    guard case .frames(let count, let position)? = result else { return }
    precondition(count > 0 && count <= 4_096, "\(count) frames were read")
    precondition(position == expected, "frame \(position) follows frame \(expected)")
    expected += Int64(count)
    precondition(reader.position == expected, "the reader's position is \(reader.position), not \(expected)")
  }
}

/// Checks that FFmpeg receives the actual bytes, for any offset and count.
func checkSource(_ bytes: [UInt8], _ control: UInt64) {
  guard let source = try? FileSource(bytes: bytes, interrupt: Interrupt()) else { return }
  precondition(source.byteCount == Int64(bytes.count), "the source has \(source.byteCount ?? -1) bytes")
  let offset = Int64(bitPattern: control) >> (control & 63)
  var buffer = [UInt8](repeating: 0xA5, count: Int(control % 97))
  let count = buffer.withUnsafeMutableBytes { try? source.read(into: $0, at: offset) }
  guard offset >= 0 else { return precondition(count == nil, "bytes were read at \(offset)") }
  let expected = offset < Int64(bytes.count) ? Array(bytes[Int(offset)...].prefix(buffer.count)) : []
  precondition(count == expected.count && Array(buffer.prefix(expected.count)) == expected, "wrong bytes at \(offset)")
  precondition(buffer.dropFirst(expected.count).allSatisfy { $0 == 0xA5 }, "bytes after the read range were modified")
}

/// Checks that the tags are within their limits, and that values can be loaded by their numbers.
func checkTags(_ asset: Asset) {
  let artwork = try? asset.loadArtwork()
  guard let metadata = asset.status(of: AssetKey.metadata).value?.metadata else { return }
  precondition(artwork.map { metadata.artwork.indices.contains($0.index) } != false, "an artwork index is out of range")
  for image in metadata.artwork {
    precondition(image.data.count <= Artwork.maximumByteCount, "artwork of \(image.data.count) bytes")
  }
  for item in metadata.items {
    precondition(
      item.artworkIndex.map { metadata.artwork.indices.contains($0) } != false, "an artwork index is out of range")
    precondition(item.numberValue?.isFinite != false, "a value is not finite: \(item)")
    precondition(
      item.omission == nil || item.stringValue == nil && item.dataValue == nil, "an omitted value is present")
  }
  precondition(metadata.commonMetadata.count <= metadata.items.count, "more common items than items")
  precondition(metadata.commonMetadata.allSatisfy { $0.keySpace == .common }, "a common item has another key space")
  let gain = metadata.replayGain
  let values = [
    gain.trackGainDecibels, gain.albumGainDecibels, gain.trackPeak, gain.albumPeak, gain.r128TrackGainDecibels,
    gain.r128AlbumGainDecibels,
  ]
  precondition(values.allSatisfy { $0?.isFinite != false }, "a gain is not finite: \(gain)")
}

func check(_ input: UnsafeRawBufferPointer) {
  // FFmpeg 5.1 leaks the tags of a VQF header when it rejects the rest of the header (libavformat/vqf.c).
  if input.starts(with: "TWIN".utf8) { ignoringLeaks { checkFile(input) } } else { checkFile(input) }
}

func checkFile(_ input: UnsafeRawBufferPointer) {
  let control = input.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  let bytes = Array(input.dropLast(min(8, input.count)))
  checkSource(bytes, control)
  let asset = Asset(data: bytes, prefersPreciseDuration: control & 1 == 1)
  checkTags(asset)
  _ = MetadataDate(String(decoding: bytes.prefix(64), as: UTF8.self)).map { precondition(!$0.description.isEmpty) }
  guard let properties = try? asset.load(), properties.hasAudio, let reader = try? AudioTrackReader(asset: asset) else {
    return
  }
  read(reader, limit: longestRead)
  let targets = [
    MediaTime.zero, properties.duration, MediaTime(value: Int64(control & 0xFFFF), timescale: 16_384),
    MediaTime(value: Int64(bitPattern: control), timescale: 1_000_000),
  ]
  for target in targets {
    guard let landed = try? reader.seek(to: target, toleranceBefore: .zero, toleranceAfter: .zero) else { continue }
    precondition(
      landed == MediaTime(frame: reader.position, rate: reader.format.sampleRateHz),
      "a seek to \(target) reached \(landed), but the reader's position is \(reader.position)")
    read(reader, limit: longestRead / 16)
  }
}

LibAV.discardLog()

fuzz(check)
