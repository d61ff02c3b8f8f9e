import Foundation
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// A file, as reported by `ffprobe`.
struct WrittenFile {
  /// A value of JSON that is an object.
  typealias Object = [String: Any]

  let path: String
  let format: Object
  let streams: [Object]
  let chapters: [Object]
  let packets: [Object]

  init(_ path: String) throws {
    try Tool.run(
      "ffprobe",
      [
        "-v", "error", "-of", "json", "-show_format", "-show_streams", "-show_chapters", "-show_packets", "-o",
        path + ".json", path,
      ])
    let json = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path + ".json")))
    let whole = try #require(json as? Object)
    self.path = path
    format = try #require(whole["format"] as? Object)
    streams = try #require(whole["streams"] as? [Object])
    chapters = try #require(whole["chapters"] as? [Object])
    packets = try #require(whole["packets"] as? [Object])
  }

  /// The streams of a type, without attached pictures. // prose: pictures (FFmpeg's term)
  func streams(_ type: String) -> [Object] {
    streams.filter {
      $0["codec_type"] as? String == type && ($0["disposition"] as? [String: Int])?["attached_pic"] != 1
    }
  }

  /// Presentation times of a stream's packets, in seconds; sorted.
  func times(of stream: Object) -> [Double] {
    let index = stream["index"] as? Int
    return packets.filter { $0["stream_index"] as? Int == index && !Self.isDiscarded($0) }
      .compactMap { ($0["pts_time"] as? String).flatMap(Double.init) }.sorted()
  }

  /// Times of key frame packets.
  func keyTimes(of stream: Object) -> [Double] {
    let index = stream["index"] as? Int
    return packets.filter { $0["stream_index"] as? Int == index && ($0["flags"] as? String ?? "").hasPrefix("K") }
      .compactMap { ($0["pts_time"] as? String).flatMap(Double.init) }
  }

  private static func isDiscarded(_ packet: Object) -> Bool { (packet["flags"] as? String ?? "").contains("D") }

  /// The duration in seconds.
  var duration: Double { (format["duration"] as? String).flatMap(Double.init) ?? -1 }

  /// The tags; names in lower case.
  var tags: [String: String] { Self.tags(format) }

  /// The tags of an object; names in lower case.
  static func tags(_ object: Object) -> [String: String] {
    Dictionary((object["tags"] as? [String: String] ?? [:]).map { ($0.lowercased(), $1) }) { one, _ in one }
  }

  /// Decodes the file with `ffmpeg`. Returns its warnings.
  func decodingWarnings() throws -> String {
    try Tool.run(
      "/bin/sh",
      [
        "-c",
        "ffmpeg -nostdin -hide_banner -v warning -xerror -i \"$0\" -map 0 -fps_mode passthrough -enc_time_base:v 1/720000 -f null - 2>\"$0.log\" || echo failed >>\"$0.log\"; echo >>\"$0.log\"",
        path,
      ])
    // Foundation leaks the buffer of an empty file, so no file is empty. Missing properties of WAV and CAF are
    // harmless, and artwork has no times.
    let harmless = [
      "Guessed Channel Layout", "Estimating duration from bitrate", "timescale not set", "Last message repeated",
    ]
    return String(decoding: try readFile(path + ".log"), as: UTF8.self).split(separator: "\n")
      .filter { line in !harmless.contains { line.contains($0) } }.joined(separator: "\n")
  }

  /// The audio of a track as the engine reads it: every sample, without padding.
  static func decodedAudio(_ path: String, track: AssetTrack.ID? = nil) throws -> [UInt8] {
    let reader = AssetReader(asset: Asset(path: path))
    let output = AssetReaderTrackOutput(trackID: track)
    try reader.add(output)
    try reader.startReading()
    var bytes: [UInt8] = []
    while let buffer = output.copyNextSampleBuffer() { bytes += buffer.data }
    try #require(reader.status == .completed)
    return bytes
  }

  /// The difference of two lists, as text.
  static func difference<Value: Equatable>(_ one: [Value], _ other: [Value]) -> String {
    if one == other { return "" }
    let index = zip(one, other).enumerated().first { $1.0 != $1.1 }?.offset
    return "\(one.count) and \(other.count), the first difference at \(index.map { "\($0)" } ?? "the end")"
  }

  /// The decoded frames of a stream: their times, in `timescale`, and their checksums.
  static func frames(_ path: String, timescale: Int = 0, stream: String = "0:v:0") throws -> [(
    ticks: Int, sum: String
  )] {
    var arguments = ["-copyts", "-i", path, "-map", stream, "-fps_mode", "passthrough"]
    if timescale > 0 { arguments += ["-enc_time_base", "1/\(timescale)"] }
    try Tool.ffmpeg(arguments: arguments + ["-f", "framemd5", path + ".md5"])
    return String(decoding: try readFile(path + ".md5"), as: UTF8.self).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.compactMap { line in
        let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard fields.count == 6, let ticks = Int(fields[2]) else { return nil }
        return (ticks, fields[5])
      }
  }
}

/// Reads stored tracks and writes them unchanged.
enum PacketCopy {
  /// Copies tracks of a file to another file.
  ///
  /// - Parameter types: the types of the tracks.
  static func copy(
    _ source: String, to target: String, _ container: WritableContainer, _ range: TimeRange? = nil,
    types: Set<AssetTrack.MediaType> = [.audio, .video], timescale: Int32? = nil,
    options: AssetWriter.Options = AssetWriter.Options()
  ) throws {
    let asset = Asset(path: source)
    let reader = AssetReader(asset: asset)
    if let range { try reader.setTimeRange(range) }
    let outputs = try asset.load().tracks.filter { types.contains($0.mediaType) }
      .map { AssetReaderStoredOutput(trackID: $0.id) }
    for output in outputs { try reader.add(output) }
    try reader.startReading()
    let writer = AssetWriter(path: target, container: container, options: options)
    let inputs = try outputs.map { output in
      let format = try #require(output.format)
      return AssetWriterInput(
        settings: .passthrough, sourceFormat: format, languageCode: format.languageCode,
        mediaTimescale: format.mediaType == .video ? timescale : nil)
    }
    for input in inputs { try writer.add(input) }
    try writer.startWriting()
    try writer.startSession(atSourceTime: range?.start ?? .zero)
    var isOpen = outputs.map { _ in true }
    while isOpen.contains(true) {
      for (index, output) in outputs.enumerated() where isOpen[index] {
        guard let buffer = output.copyNextSampleBuffer() else {
          isOpen[index] = false
          inputs[index].markAsFinished()
          continue
        }
        try inputs[index].append(waiting: buffer)
      }
    }
    try #require(reader.status == .completed, "\(reader.error.map { "\($0)" } ?? "")")
    try writer.finishWriting()
  }
}
