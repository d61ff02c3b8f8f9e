import CPlayheadFFmpeg

extension Encoder {
  /// The capabilities of an encoder.
  package struct Traits: Sendable, Hashable {
    /// FFmpeg's name of the codec, such as `opus`.
    package let codecName: String
    /// The supported sample formats, the best first.
    package let sampleFormats: [SampleFormat]
    /// The supported sample rates, in Hz; empty: any.
    package let sampleRatesHz: [Int]
    /// The maximum number of channels; nil when the encoder does not report it.
    package let maximumChannelCount: Int?

    /// Queries the encoder of the given name; nil when this FFmpeg has none.
    package init?(encoderName: String) {
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
      (sampleFormats, sampleRatesHz, maximumChannelCount) = (formats, rates, largest)
    }
  }
}
