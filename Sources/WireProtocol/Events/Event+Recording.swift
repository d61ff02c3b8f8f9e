import MediaCore

extension Event {
  /// The payload of `recording`.
  public struct Recording: Sendable, Hashable {
    public var subscription: Int
    public var recorder: Int
    public var state: String
    /// The recorded duration. 0 when stopped.
    public var time: MediaTime
    /// The number of frames of the source that have been lost so far.
    public var lostFrameCount: Int64
    /// The error that ended the recording.
    public var error: MediaError?

    public init(
      subscription: Int, recorder: Int, state: String, time: MediaTime, lostFrameCount: Int64, error: MediaError? = nil
    ) {
      self.subscription = subscription
      self.recorder = recorder
      self.state = state
      self.time = time
      self.lostFrameCount = lostFrameCount
      self.error = error
    }

    var fields: Fields {
      var fields: Fields = [
        "id": .int(subscription), "recorder": .int(recorder), "state": .string(state),
      ]
      fields.append(position: time)
      fields.append("lost", .integer(lostFrameCount))
      if let error { fields.append(contentsOf: WireError(error).fields) }
      return fields
    }
  }

  /// The payload of `record-meter`. The arrays contain one value for each channel of the source. `time` is the end of
  /// the measured range.
  public struct RecordMeter: Sendable, Hashable {
    public var subscription: Int
    public var recorder: Int
    public var time: MediaTime
    /// In dBFS.
    public var average: [Float]
    public var peak: [Float]
    /// 0 to 1.
    public var averageScale: [Float]
    public var peakScale: [Float]

    public init(
      subscription: Int, recorder: Int, time: MediaTime, average: [Float], peak: [Float], averageScale: [Float],
      peakScale: [Float]
    ) {
      self.subscription = subscription
      self.recorder = recorder
      self.time = time
      self.average = average
      self.peak = peak
      self.averageScale = averageScale
      self.peakScale = peakScale
    }

    var fields: Fields {
      var fields: Fields = ["id": .int(subscription), "recorder": .int(recorder)]
      fields.append(position: time)
      fields.append("average", Meter.values(average, factor: 100))
      fields.append("peak", Meter.values(peak, factor: 100))
      fields.append("averageScale", Meter.values(averageScale, factor: 10_000))
      fields.append("peakScale", Meter.values(peakScale, factor: 10_000))
      return fields
    }
  }
}
