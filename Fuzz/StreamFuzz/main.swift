import Fuzzing
import PlayheadLibAV
import PlayheadMediaAssets
import PlayheadMediaCore

// Opens, reads and seeks any bytes as segments of an HLS stream with a playlist. The reader must not trap, hang or read
// out of bounds, and its frames must be contiguous. The last byte of an input determines where the bytes are split, and
// whether the second segment starts with a discontinuity.

/// Maximum number of frames that are read.
let longestRead: Int64 = 100_000

let folder = makeScratchFolder()

func read(_ reader: AudioTrackReader, limit: Int64) {
  var samples = [Float](repeating: 0, count: 4_096 * reader.format.channelCount)
  var expected = reader.position
  let first = expected
  while expected - first < limit {
    let result = samples.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { try? reader.read(into: $0, capacityFrames: 4_096) }
    }
    guard case .frames(let count, let position)? = result else { return }
    precondition(count > 0 && count <= 4_096, "\(count) frames were read")
    precondition(position == expected, "frame \(position) follows frame \(expected)")
    expected += Int64(count)
  }
}

func check(_ input: UnsafeRawBufferPointer) {
  guard let control = input.last else { return }
  let bytes = input.dropLast()
  let middle = bytes.startIndex + bytes.count * Int(control & 127) / 127
  write(bytes[..<middle], to: "\(folder)/a.seg")
  write(bytes[middle...], to: "\(folder)/b.seg")
  let list = """
    #EXTM3U
    #EXT-X-TARGETDURATION:1
    #EXTINF:0.2,
    a.seg
    \(control > 127 ? "#EXT-X-DISCONTINUITY" : "#")
    #EXTINF:0.2,
    b.seg
    #EXT-X-ENDLIST

    """
  write(Array(list.utf8), to: "\(folder)/list.m3u8")
  let asset = Asset(path: "\(folder)/list.m3u8")
  guard (try? asset.load()) != nil, let reader = try? AudioTrackReader(asset: asset) else { return }
  read(reader, limit: longestRead)
  for target in [MediaTime.zero, MediaTime(value: 1, timescale: 5), MediaTime(value: 3, timescale: 10)] {
    guard (try? reader.seek(to: target, toleranceBefore: .zero, toleranceAfter: .zero)) != nil else { continue }
    read(reader, limit: longestRead / 16)
  }
}

LibAV.discardLog()

fuzz(check)
