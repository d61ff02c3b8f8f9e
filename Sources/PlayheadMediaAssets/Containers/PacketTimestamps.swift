/// Records which packet timestamps are stored in the container, and the distance of the last packet from the last such
/// timestamp. A pure value.
///
/// Only the first of the packets that share a block (Matroska's lacing) has a timestamp in the file. FFmpeg derives the
/// others in whole ticks from assumed lengths.
struct PacketTimestamps: Sendable {
  /// The last timestamp stored in the container, in the stream's ticks.
  private(set) var ticks: Int64?
  /// The number of frames between the packet of that timestamp and the last packet; nil if a length
  /// between them is unknown.
  private(set) var framesSince: Int64?
  /// Whether the last packet's timestamp is stored in the container.
  private(set) var isStored = true
  private var byte: Int64?
  /// A limit larger than any block, so that sums of positions stay in range.
  private static let maximumFramesSince = Int64(1) << 32

  /// The length of the last packet in frames.
  private var frameCount: Int64?

  /// Records the next packet with its byte position, timestamp and length; nil if unknown.
  mutating func note(byte: Int64?, ticks: Int64?, frameCount: () -> Int64?) {
    isStored = byte == nil || byte != self.byte
    if isStored {
      self.ticks = ticks
      framesSince = 0
    } else {
      framesSince = framesSince.flatMap { since in
        self.frameCount.flatMap { count in
          let (sum, overflow) = since.addingReportingOverflow(count)
          return overflow || sum > Self.maximumFramesSince ? nil : sum
        }
      }
    }
    self.byte = byte
    self.frameCount = frameCount()
  }
}
