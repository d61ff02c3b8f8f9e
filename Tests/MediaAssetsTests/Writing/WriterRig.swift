import Foundation
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Audio and the settings for writing it.
enum WriterRig {
  static let source: FormatDescription = .pcm(.signed16, sampleRateHz: 48_000, channelCount: 2)

  /// Quiet frames that encode their index.
  static func samples(_ range: Range<Int>) -> [UInt8] {
    range.flatMap { index -> [UInt8] in [UInt8(truncatingIfNeeded: index), 0, UInt8(truncatingIfNeeded: index >> 8), 0]
    }
  }

  static func buffer(_ range: Range<Int>, at frame: Int? = nil) throws -> SampleBuffer {
    try SampleBuffer(
      pcm: samples(range), format: source,
      presentationTime: MediaTime(value: Int64(frame ?? range.lowerBound), timescale: 48_000))
  }

  static func audio(_ codec: AudioOutputSettings.Codec, language: String? = nil) -> AssetWriterInput {
    AssetWriterInput(settings: AudioOutputSettings(codec), sourceFormat: source, languageCode: language)
  }

  /// A started writer, whose session starts at 0.
  static func writer(
    _ path: String, _ container: WritableContainer, _ inputs: [AssetWriterInput],
    options: AssetWriter.Options = AssetWriter.Options()
  ) throws -> AssetWriter {
    let writer = AssetWriter(path: path, container: container, options: options)
    for input in inputs { try writer.add(input) }
    try writer.startWriting()
    try writer.startSession(atSourceTime: .zero)
    return writer
  }
}
