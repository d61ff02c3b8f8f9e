/// A rational time, as CMTime: `value / timescale` seconds.
public struct MediaTime: Sendable {
  public struct Flags: OptionSet, Sendable, Hashable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let valid = Flags(rawValue: 1)
    public static let hasBeenRounded = Flags(rawValue: 2)
    public static let positiveInfinity = Flags(rawValue: 4)
    public static let negativeInfinity = Flags(rawValue: 8)
    public static let indefinite = Flags(rawValue: 16)
  }
  public var value: Int64
  public var timescale: Int32
  public var flags: Flags
  public var epoch: Int64

  public init(value: Int64, timescale: Int32, flags: Flags = .valid, epoch: Int64 = 0) {
    self.value = value
    self.timescale = timescale
    self.flags = flags
    self.epoch = epoch
  }
}
