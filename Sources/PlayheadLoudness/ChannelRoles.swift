import CPlayheadEbur128

/// The weight of each channel in programme loudness (ITU-R BS.1770-4, table 4). Front channels count unchanged, side
/// and back surround channels with +1.5 dB, and LFE channels not at all.
enum ChannelRoles {
  // libavutil/channel_layout.h: bits of a channel mask, in channel order.
  private static let backLeft = 4
  private static let backRight = 5
  private static let sideLeft = 9
  private static let sideRight = 10
  private static let sides: UInt64 = 1 << 9 | 1 << 10

  /// libebur128's roles of the channels of a mask, in channel order. Without a mask, or with one of another channel
  /// count, FFmpeg's default layout applies. Beyond eight channels, each further channel counts as a front channel.
  static func roles(mask: UInt64?, channelCount: Int) -> [channel] {
    let defaultMask = defaultMask(channelCount: channelCount)
    let mask = mask.flatMap { $0.nonzeroBitCount == channelCount ? $0 : nil } ?? defaultMask
    let roles = (0..<64).filter { mask & 1 << UInt64($0) != 0 }.map { role(ofBit: $0, in: mask) }
    return roles + Array(repeating: EBUR128_CENTER, count: max(0, channelCount - roles.count))
  }

  private static func role(ofBit bit: Int, in mask: UInt64) -> channel {
    switch bit {
    case 0: EBUR128_LEFT
    case 1: EBUR128_RIGHT
    case 2: EBUR128_CENTER
    // LFE and LFE2.
    case 3, 35: EBUR128_UNUSED
    // Without side channels, back channels are the surround pair of 5.1; otherwise they are the rear pair.
    case backLeft: mask & sides == 0 ? EBUR128_LEFT_SURROUND : EBUR128_Mp135
    case backRight: mask & sides == 0 ? EBUR128_RIGHT_SURROUND : EBUR128_Mm135
    case 6: EBUR128_MpSC
    case 7: EBUR128_MmSC
    case 8: EBUR128_Mp180
    case sideLeft: EBUR128_LEFT_SURROUND
    case sideRight: EBUR128_RIGHT_SURROUND
    // Wide channels are at 60 degrees.
    case 31: EBUR128_Mp060
    case 32: EBUR128_Mm060
    default: EBUR128_CENTER
    }
  }

  /// `av_channel_layout_default`.
  private static func defaultMask(channelCount: Int) -> UInt64 {
    switch channelCount {
    case 1: 0x4
    case 2: 0x3
    case 3: 0xB
    case 4: 0x107
    case 5: 0x37
    case 6: 0x3F
    case 7: 0x70F
    case 8: 0x63F
    default: 0
    }
  }
}
