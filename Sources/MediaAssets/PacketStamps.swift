/// Which timestamps of packets are the container's own, and how far a packet lies behind the last one of them. A pure value.
///
/// Of packets that share a block (Matroska's lacing), only the first has a timestamp in the file; FFmpeg counts for the others,
/// in whole ticks, by what it takes for their lengths.
struct PacketStamps: Sendable {
  /// The last timestamp of the container's, in the stream's ticks.
  private(set) var ticks: Int64?
  /// Frames between the packets of that timestamp and of the last; nil when a length between them is not known.
  private(set) var framesSince: Int64?
  /// The last packet's timestamp is the container's.
  private(set) var isOwn = true
  private var byte: Int64?
  /// No block is as long, and sums of places stay in range.
  private static let mostFramesSince = Int64(1) << 32

  /// The last packet's length.
  private var frameCount: Int64?

  /// Takes in the next packet: where it lies in the file, its timestamp and its length, nil where it is not known.
  mutating func note(byte: Int64?, ticks: Int64?, frameCount: () -> Int64?) {
    isOwn = byte == nil || byte != self.byte
    if isOwn {
      self.ticks = ticks
      framesSince = 0
    } else {
      framesSince = framesSince.flatMap { since in
        self.frameCount.flatMap { count in
          let (sum, overflow) = since.addingReportingOverflow(count)
          return overflow || sum > Self.mostFramesSince ? nil : sum
        }
      }
    }
    self.byte = byte
    self.frameCount = frameCount()
  }
}
