import CPlayheadFFmpeg
import Foundation
import PlayheadMediaCore
import Testing

@testable import PlayheadLibAV
@testable import PlayheadMediaAssets

/// Decodes stored samples with only their content, like an independent program.
final class StoredDecoder {
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let packet: Packet
  private let frame: Frame

  init(_ format: FormatDescription) throws {
    // The decoder that the engine uses.
    let named = format.codecName == "mp2" ? avcodec_find_decoder_by_name("mp2float") : nil
    let codec = try #require(named ?? avcodec_find_decoder(avcodec_descriptor_get_by_name(format.codecName).pointee.id))
    context = try #require(avcodec_alloc_context3(codec))
    packet = try Packet()
    frame = try Frame()
    let data = try #require(av_mallocz(format.setupData.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)))
    data.copyMemory(from: format.setupData, byteCount: format.setupData.count)
    context.pointee.extradata = data.assumingMemoryBound(to: UInt8.self)
    context.pointee.extradata_size = Int32(format.setupData.count)
    let audio = try #require(format.audio)
    context.pointee.sample_rate = Int32(audio.sampleRateHz)
    av_channel_layout_default(&context.pointee.ch_layout, Int32(audio.channelCount))
    let bits = av_get_bits_per_sample(codec.pointee.id)
    context.pointee.bits_per_coded_sample = bits > 0 ? bits : Int32(audio.bitsPerSample ?? 0)
    if let bytes = audio.bytesPerPacket { context.pointee.block_align = Int32(bytes) }
    context.pointee.thread_count = 1
    // The samples specify their trimming.
    context.pointee.flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL
    // AC-3's dither depends on each frame, as in `Decoder`.
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    if format.codecName.hasSuffix("ac3") { av_dict_set(&options, "cons_noisegen", "1", 0) }
    try #require(avcodec_open2(context, codec, &options) >= 0)
  }

  deinit {
    var released: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&released)
  }

  /// Interleaved.
  func decode(_ data: [UInt8]) throws -> [Float] {
    av_packet_unref(packet.pointer)
    try #require(av_new_packet(packet.pointer, Int32(data.count)) >= 0)
    packet.pointer.pointee.data.update(from: data, count: data.count)
    try #require(avcodec_send_packet(context, packet.pointer) >= 0)
    var samples: [Float] = []
    while avcodec_receive_frame(context, frame.pointer) >= 0 {
      let layout = try #require(frame.layout)
      var converter = FrameConverter(
        format: AudioFormat(sampleRateHz: layout.sampleRateHz, channelCount: layout.channelCount),
        sampleFormat: .float32)
      var chunk = [Float](repeating: 0, count: frame.frameCount * layout.channelCount)
      try chunk.withUnsafeMutableBytes { bytes in
        try converter.convert(frame, range: 0..<frame.frameCount, into: #require(bytes.baseAddress), of: "a packet")
      }
      samples += chunk
    }
    return samples
  }
}

/// The result of reading stored samples.
struct StoredReading {
  var buffers: [SampleBuffer] = []
  var format: FormatDescription?
  var error: MediaError?
  var fault: MediaError?
  var status = AssetReader.Status.unknown

  init(_ asset: Asset, trackID: AssetTrack.ID? = nil, _ range: TimeRange? = nil) throws {
    let output = AssetReaderStoredOutput(trackID: trackID)
    let reader = AssetReader(asset: asset)
    if let range { try reader.setTimeRange(range) }
    try reader.add(output)
    try reader.startReading()
    while let buffer = output.copyNextSampleBuffer() { buffers.append(buffer) }
    (format, error, fault, status) = (output.format, reader.error, output.fault, reader.status)
  }

  /// Reads the rest of an output's ranges.
  init(reading output: AssetReaderStoredOutput) throws {
    while let buffer = output.copyNextSampleBuffer() { buffers.append(buffer) }
  }

  /// The decoded audio from the first buffer on: frames by number, with silence in gaps.
  func decodedSamples(from first: Int, to end: Int) throws -> [Float] {
    let format = try #require(format)
    let audio = try #require(format.audio)
    let decoder = audio.pcm == nil || format.codecName.hasPrefix("pcm") ? try StoredDecoder(format) : nil
    var samples = [Float](repeating: 0, count: (end - first) * audio.channelCount)
    for buffer in buffers {
      let decoded = try decoder?.decode(buffer.data) ?? []
      let count = decoded.count / audio.channelCount
      let start = Int(
        try #require(buffer.outputPresentationTime.frameIndex(rate: audio.sampleRateHz, rounding: .halfAwayFromZero)))
      let bufferStart = Int(
        try #require(buffer.presentationTime.frameIndex(rate: audio.sampleRateHz, rounding: .halfAwayFromZero)))
      let length = Int(
        try #require(buffer.outputDuration.frameIndex(rate: audio.sampleRateHz, rounding: .halfAwayFromZero)))
      guard length > 0 else { continue }
      #expect(start - bufferStart + length <= count, "a buffer at \(bufferStart) declares more than it has")
      for frame in start..<start + length {
        try #require((first..<end).contains(frame), "frame \(frame) of \(first) to \(end)")
        for channel in 0..<audio.channelCount where frame - bufferStart < count {
          samples[(frame - first) * audio.channelCount + channel] =
            decoded[(frame - bufferStart) * audio.channelCount + channel]
        }
      }
    }
    return samples
  }
}

/// A packet, as reported by `ffprobe`.
struct ProbedPacket {
  var pts: Int64?
  var dts: Int64?
  var byteCount = 0
  var isSync = false
  var isDiscarded = false
  var checksum: UInt32?

  static func all(_ path: String, stream: Int) throws -> (packets: [ProbedPacket], timeBase: TimeBase, start: Int64?) {
    let out = path + ".probe"
    try Tool.run(
      "ffprobe",
      [
        "-loglevel", "error", "-select_streams", "\(stream)", "-show_data_hash", "CRC32", "-show_packets",
        "-show_entries",
        "packet=pts,dts,size,flags,data_hash:stream=time_base,start_pts", "-of", "compact", "-o", out, path,
      ])
    var packets: [ProbedPacket] = []
    var timeBase = TimeBase.microseconds
    var start: Int64?
    for line in String(decoding: try readFile(out), as: UTF8.self).split(separator: "\n") {
      let values = Dictionary(
        line.split(separator: "|").compactMap { field -> (Substring, Substring)? in
          field.firstIndex(of: "=").map { (field[..<$0], field[field.index(after: $0)...]) }
        }, uniquingKeysWith: { first, _ in first })
      if line.hasPrefix("packet") {
        let flags = values["flags"] ?? ""
        packets.append(
          ProbedPacket(
            pts: values["pts"].flatMap { Int64($0) }, dts: values["dts"].flatMap { Int64($0) },
            byteCount: values["size"].flatMap { Int($0) } ?? 0, isSync: flags.contains("K"),
            isDiscarded: flags.contains("D"),
            checksum: values["data_hash"].flatMap(Self.number)))
      } else if let hash = values["data_hash"], let last = packets.indices.last {
        // Follows the packet's side data.
        packets[last].checksum = Self.number(hash)
      } else if line.hasPrefix("stream") {
        let parts = (values["time_base"] ?? "").split(separator: "/").compactMap { Int32($0) }
        timeBase = try #require(TimeBase(numerator: parts[0], denominator: parts[1]))
        start = values["start_pts"].flatMap { Int64($0) }
      }
    }
    return (packets, timeBase, start)
  }

  private static func number(_ hash: Substring) -> UInt32? { UInt32(hash.drop { $0 != ":" }.dropFirst(), radix: 16) }

  private static let table: [UInt32] = (0..<256).map { index in
    var sum = UInt32(index)
    for _ in 0..<8 {
      let half = sum >> 1
      sum = sum & 1 == 0 ? half : half ^ 0xedb8_8320
    }
    return sum
  }

  /// As computed by `ffprobe`.
  static func checksum(_ data: [UInt8]) -> UInt32 {
    var sum = UInt32.max
    for byte in data {
      let index = Int((sum ^ UInt32(byte)) & 0xff)
      sum = (sum >> 8) ^ table[index]
    }
    return ~sum
  }
}

/// The first difference of two long arrays; nil if they are equal. `#expect` would search for the smallest edit between
/// them.
func difference<Element: Equatable>(_ found: [Element], _ expected: [Element]) -> String? {
  if found == expected { return nil }
  let count = zip(found, expected).reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
  let first = zip(found, expected).enumerated().first { $1.0 != $1.1 }?.offset
  return "\(found.count) instead of \(expected.count), \(count) differ, first \(first.map { "\($0)" } ?? "at the end")"
}
