import Fuzzing
import PlayheadMediaCore

@testable import PlayheadLibAV
@testable import PlayheadMediaAssets

// The project's parsers of headers inside media files, with any bytes; the first byte selects one. They must not trap,
// read out of bounds or loop indefinitely. Their results must be within the bytes and in order.

/// Maximum number of packets or pages: each has at least a few bytes.
let longestWalk = 20_000

func source(_ bytes: [UInt8]) -> FileSource? { try? FileSource(bytes: bytes, interrupt: Interrupt()) }

/// MPEG audio packets are contiguous in bytes and frames.
func walkMPEGAudio(_ bytes: [UInt8]) {
  guard let source = source(bytes) else { return }
  var walker = MPEGAudioWalker(source: source, from: PacketIndex.Entry(byte: 0, frame: 0))
  var frame: Int64 = 0
  var lastByte: Int64 = -1
  for _ in 0..<longestWalk {
    guard let packet = (try? walker.next()) ?? nil else { return }
    precondition(packet.byte > lastByte && packet.byte < Int64(bytes.count), "a packet at \(packet.byte)")
    precondition(packet.frame == frame && packet.frameCount > 0, "frame \(packet.frame) follows \(frame)")
    precondition(
      (0...511).contains(packet.reservoirByteCount) && packet.mainDataByteCount >= 0, "invalid bit reservoir")
    lastByte = packet.byte
    frame += Int64(packet.frameCount)
  }
}

/// The entries of an ADTS packet index are in order and within the file.
func walkADTS(_ bytes: [UInt8]) {
  guard let source = source(bytes) else { return }
  let identity = FileIdentity(
    device: 0, inode: 0, byteCount: Int64(bytes.count), modifiedSeconds: 0, modifiedNanoseconds: 0)
  let index = PacketIndex(identity: identity, streamIndex: 0, firstByte: 0, spacingFrames: 1_024)
  try? ADTSWalker.extend(index, to: 1 << 40, packetFrames: 1_024, source: source)
  let last = index.tail.last
  precondition(last.byte >= 0 && last.byte <= Int64(bytes.count), "a packet at \(last.byte)")
  for frame in stride(from: Int64(0), through: min(last.frame, 1_024_000), by: 1_024) {
    precondition(index.entry(atOrBefore: frame).frame <= frame, "a packet after frame \(frame)")
  }
}

/// Pages end after their start. A page with a correct checksum is within the file.
func walkOgg(_ bytes: [UInt8]) {
  guard let source = source(bytes) else { return }
  var pages = OggPages(source: source)
  var start: Int64 = 0
  for _ in 0..<longestWalk {
    guard let page = (try? pages.firstPage(from: start, before: Int64(bytes.count))) ?? nil else { break }
    precondition(page.byte >= start && page.end <= Int64(bytes.count) && page.byteCount >= 27, "a page at \(page.byte)")
    precondition(page.granule.map { $0 >= 0 } != false, "a negative position")
    start = page.end
  }
  _ = try? OggStreams.find(source: source, firstByte: 0, byteCount: Int64(bytes.count))
  if let first = (try? pages.page(at: 0)) ?? nil {
    _ = try? OggStreams.find(source: source, firstByte: first.end, byteCount: Int64(bytes.count))
  }
}

/// Boxes are requested within the file, and times are valid.
func readMovie(_ bytes: [UInt8]) {
  for trackID in 1...2 {
    let times = MovieTrackTimes(trackID: trackID) { offset, count in
      precondition(offset >= 0 && count >= 0, "\(count) bytes at \(offset)")
      guard offset < Int64(bytes.count) else { return [] }
      return Array(bytes[Int(offset)...].prefix(count))
    }
    guard let times else { continue }
    precondition(times.movieTimescale > 0 && times.mediaTimescale > 0 && times.mediaDuration >= 0, "invalid timescale")
    precondition(times.edits.count <= MovieTrackTimes.maximumEditCount, "too many edits")
    _ = times.mediaOrigin
  }
}

/// Timed metadata of a segment: tags of transport streams, and event messages.
func readTimedTags(_ bytes: [UInt8]) {
  if let tag = TransportTag.restored(bytes) {
    precondition(tag.starts(with: "ID3".utf8) && tag.count <= bytes.count + 10, "invalid tag")
    _ = SegmentTag(time: .now, bytes: tag).items
  }
  if let tag = EventMessage.tag(in: bytes[...], startNanoseconds: 1_000_000_000) {
    precondition(tag.bytes.count < bytes.count, "a tag of \(tag.bytes.count) bytes")
  }
}

/// Masked ranges of a file are in order, after the header of a tag.
func checkMasks(_ bytes: [UInt8]) {
  guard let source = source(bytes) else { return }
  var end: Int64 = 0
  for range in ID3Mask.ranges(of: source, harmlessByteCount: 16).ranges {
    precondition(range.lowerBound >= end + 10 && range.count <= 1 << 28, "invalid masked range \(range)")
    end = range.upperBound
  }
  for mask in CommentMask.masks(of: source, from: 0, harmlessByteCount: 16, maximumCount: 3) {
    precondition(
      mask.range.lowerBound >= 0 && mask.range.upperBound <= Int64(bytes.count) && mask.bytes.count <= mask.range.count,
      "invalid masked range \(mask.range)")
  }
}

func check(_ input: UnsafeRawBufferPointer) {
  guard let kind = input.first else { return }
  let bytes = Array(input.dropFirst())
  switch kind % 9 {
  case 0:
    if let count = MP3InfoFrame(bytes: bytes)?.audioFrameCount { precondition(count >= 0, "\(count) frames") }
  case 1: walkMPEGAudio(bytes)
  case 2: walkADTS(bytes)
  case 3: walkOgg(bytes)
  case 4: readMovie(bytes)
  case 5:
    if let time = TransportTimestamp.find(in: bytes[...]) { precondition(time >= 0 && time < 1 << 33, "\(time)") }
  case 6: readTimedTags(bytes)
  case 7: checkMasks(bytes)
  default:
    let text = String(decoding: bytes, as: UTF8.self)
    if let comment = ITunesGaplessComment(text) {
      precondition(comment.startFrames >= 0 && comment.endFrames >= 0, "negative frame count")
      precondition(comment.audioFrameCount.map { $0 > 0 } != false, "a frame count below 1")
    }
    if let date = ISODate.parse(text) {
      precondition(ISODate.parse(ISODate.text(date)) != nil, "a date changed to an invalid one: \(ISODate.text(date))")
    }
  }
}

LibAV.discardLog()

fuzz(check)
