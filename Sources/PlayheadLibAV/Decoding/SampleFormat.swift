import CPlayheadFFmpeg

/// The format of one sample in memory, in native byte order. The cases are FFmpeg's formats (`AVSampleFormat`).
package enum SampleFormat: Int32, Sendable, Hashable, Codable, CaseIterable {
  case unsigned8 = 0
  case signed16, signed32, float32, float64
  case unsigned8Planar, signed16Planar, signed32Planar, float32Planar, float64Planar
  case signed64, signed64Planar

  /// The number of bytes of one sample of one channel.
  package var byteCount: Int {
    switch self {
    case .unsigned8, .unsigned8Planar: 1
    case .signed16, .signed16Planar: 2
    case .signed32, .signed32Planar, .float32, .float32Planar: 4
    case .float64, .float64Planar, .signed64, .signed64Planar: 8
    }
  }

  /// Whether each channel has a separate buffer.
  package var isPlanar: Bool {
    switch self {
    case .unsigned8, .signed16, .signed32, .float32, .float64, .signed64: false
    case .unsigned8Planar, .signed16Planar, .signed32Planar, .float32Planar, .float64Planar, .signed64Planar: true
    }
  }

  var avFormat: AVSampleFormat { AVSampleFormat(rawValue: rawValue) }
}

/// The layout of a stream of samples: format, rate and the speakers of the channels.
package struct SampleLayout: Sendable, Hashable, Codable {
  package var format: SampleFormat
  /// The sample rate, in Hz.
  package var sampleRateHz: Int
  /// The number of channels, 1 to 64.
  package var channelCount: Int
  /// The speakers in native order, as `AV_CH_*` bits; nil when the meaning of the channels is unknown.
  package var channelMask: UInt64?

  package init(format: SampleFormat, sampleRateHz: Int, channelCount: Int, channelMask: UInt64? = nil) {
    self.format = format
    self.sampleRateHz = sampleRateHz
    self.channelCount = channelCount
    self.channelMask = channelMask
  }

  /// Returns FFmpeg's default mask for the channel count; nil when it has none.
  package static func defaultChannelMask(channelCount: Int) -> UInt64? {
    guard let count = Int32(exactly: channelCount), count > 0 else { return nil }
    var layout = AVChannelLayout()
    av_channel_layout_default(&layout, count)
    defer { av_channel_layout_uninit(&layout) }
    let mask = shim_channel_layout_mask(&layout)
    return mask == 0 ? nil : mask
  }
}
