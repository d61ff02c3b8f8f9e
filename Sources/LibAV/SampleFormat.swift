import CFFmpeg

/// How one sample lies in memory. FFmpeg's formats, all of them; native byte order.
public enum SampleFormat: Int32, Sendable, Hashable, Codable, CaseIterable {
  case unsigned8 = 0
  case signed16, signed32, float32, float64
  case unsigned8Planar, signed16Planar, signed32Planar, float32Planar, float64Planar
  case signed64, signed64Planar

  /// Bytes of one sample of one channel.
  public var byteCount: Int {
    switch self {
    case .unsigned8, .unsigned8Planar: 1
    case .signed16, .signed16Planar: 2
    case .signed32, .signed32Planar, .float32, .float32Planar: 4
    case .float64, .float64Planar, .signed64, .signed64Planar: 8
    }
  }

  /// Whether each channel has a buffer of its own.
  public var isPlanar: Bool {
    switch self {
    case .unsigned8, .signed16, .signed32, .float32, .float64, .signed64: false
    case .unsigned8Planar, .signed16Planar, .signed32Planar, .float32Planar, .float64Planar, .signed64Planar: true
    }
  }

  var avFormat: AVSampleFormat { AVSampleFormat(rawValue: rawValue) }
}

/// The whole shape of a stream of samples: format, rate and which speaker each channel is for.
public struct SampleLayout: Sendable, Hashable, Codable {
  public var format: SampleFormat
  /// Frames a second.
  public var sampleRateHz: Int
  /// 1 to 64.
  public var channelCount: Int
  /// Speakers in native order, as `AV_CH_*` bits; nil when the channels' meaning is not known.
  public var channelMask: UInt64?

  public init(format: SampleFormat, sampleRateHz: Int, channelCount: Int, channelMask: UInt64? = nil) {
    self.format = format
    self.sampleRateHz = sampleRateHz
    self.channelCount = channelCount
    self.channelMask = channelMask
  }

  /// The mask that FFmpeg supposes for so many channels when nothing says otherwise; nil when it has no such guess.
  public static func defaultChannelMask(channelCount: Int) -> UInt64? {
    guard let count = Int32(exactly: channelCount), count > 0 else { return nil }
    var layout = AVChannelLayout()
    av_channel_layout_default(&layout, count)
    defer { av_channel_layout_uninit(&layout) }
    let mask = shim_channel_layout_mask(&layout)
    return mask == 0 ? nil : mask
  }
}
