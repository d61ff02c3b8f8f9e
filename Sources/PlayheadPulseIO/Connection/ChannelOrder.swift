import CPlayheadPulse

/// Channel maps for FFmpeg's native orders (libavutil/channel_layout.h, `av_channel_layout_default`).
///
/// libpulse's own default (`PA_CHANNEL_MAP_AIFF`) and even its `WAVEEX` differ from them for some counts.
enum ChannelOrder {
  /// Returns the map for `channelCount` channels; nil when libpulse does not support that count.
  static func map(channelCount: Int) -> pa_channel_map? {
    guard (1...Int(PA_CHANNELS_MAX)).contains(channelCount) else { return nil }
    var map = pa_channel_map()
    guard let positions = native[channelCount] else {
      return pa_channel_map_init_extend(&map, UInt32(channelCount), PA_CHANNEL_MAP_WAVEEX) == nil
        ? nil : map
    }
    map.channels = UInt8(channelCount)
    withUnsafeMutableBytes(of: &map.map) { bytes in
      let slots = bytes.bindMemory(to: pa_channel_position_t.self)
      for (index, position) in positions.enumerated() { slots[index] = position }
    }
    return map
  }

  private static let front = [PA_CHANNEL_POSITION_FRONT_LEFT, PA_CHANNEL_POSITION_FRONT_RIGHT]
  private static let rear = [PA_CHANNEL_POSITION_REAR_LEFT, PA_CHANNEL_POSITION_REAR_RIGHT]
  private static let side = [PA_CHANNEL_POSITION_SIDE_LEFT, PA_CHANNEL_POSITION_SIDE_RIGHT]
  private static let center = PA_CHANNEL_POSITION_FRONT_CENTER
  private static let lfe = PA_CHANNEL_POSITION_LFE

  private static let native: [Int: [pa_channel_position_t]] = [
    1: [PA_CHANNEL_POSITION_MONO],
    2: front,
    3: front + [lfe],
    4: front + [center, PA_CHANNEL_POSITION_REAR_CENTER],
    5: front + [center] + rear,
    6: front + [center, lfe] + rear,
    7: front + [center, lfe, PA_CHANNEL_POSITION_REAR_CENTER] + side,
    8: front + [center, lfe] + rear + side,
  ]
}
