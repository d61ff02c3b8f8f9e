import CFFmpeg

extension Encoder {
  /// What an encoder takes.
  public struct Traits: Sendable, Hashable {
    /// FFmpeg's name of the codec that it writes, such as `opus`.
    public let codecName: String
    /// What it takes; the best first.
    public let sampleFormats: [SampleFormat]
    /// Frames a second that it takes; empty: any.
    public let sampleRatesHz: [Int]
    /// Most channels that it takes, as far as it says; nil: it does not.
    public let largestChannelCount: Int?

    /// What this FFmpeg's encoder of a name takes; nil when it has none.
    public init?(encoderName: String) {
      guard let codec = avcodec_find_encoder_by_name(encoderName), codec.pointee.type == AVMEDIA_TYPE_AUDIO else {
        return nil
      }
      self.init(codec)
    }

    init(_ codec: UnsafePointer<AVCodec>) {
      codecName = String(cString: avcodec_get_name(codec.pointee.id))
      var formats: [SampleFormat] = []
      if var next = codec.pointee.sample_fmts {
        while let format = SampleFormat(rawValue: next.pointee.rawValue) {
          formats.append(format)
          next += 1
        }
      }
      var rates: [Int] = []
      if var next = codec.pointee.supported_samplerates {
        while next.pointee > 0 {
          rates.append(Int(next.pointee))
          next += 1
        }
      }
      var largest: Int?
      if var next = codec.pointee.ch_layouts {
        while next.pointee.nb_channels > 0 {
          largest = max(largest ?? 0, Int(next.pointee.nb_channels))
          next += 1
        }
      }
      (sampleFormats, sampleRatesHz, largestChannelCount) = (formats, rates, largest)
    }
  }
}
