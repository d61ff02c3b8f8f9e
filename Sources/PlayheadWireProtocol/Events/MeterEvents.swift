import PlayheadMediaCore

/// The levels of audio, with one value for each channel.
package struct LevelValues: Sendable, Hashable {
  /// The average power and the largest sample since the last event, in dBFS.
  package var average: [Float]
  package var peak: [Float]
  /// The same on a meter's scale, 0 to 1.
  package var averageScale: [Float]
  package var peakScale: [Float]

  package init(average: [Float], peak: [Float], averageScale: [Float], peakScale: [Float]) {
    (self.average, self.peak) = (average, peak)
    (self.averageScale, self.peakScale) = (averageScale, peakScale)
  }

  static let fields: [Field<Self>] = [
    Field(.average) { rounded($0.average, to: 100) }, Field(.peaks) { rounded($0.peak, to: 100) },
    Field(.averageScale) { rounded($0.averageScale, to: 10_000) },
    Field(.peakScale) { rounded($0.peakScale, to: 10_000) },
  ]

  /// The values, rounded to multiples of 1 / `factor`. A meter display needs no more precision.
  private static func rounded(_ values: [Float], to factor: Double) -> [Double] {
    values.map { (Double($0) * factor).rounded() / factor }
  }
}

/// `meter`: the levels of a player, for each channel of the output. The position is the end of the measured range.
package struct MeterEvent: Event {
  package var subscription: Int
  package var position: PlayerPosition
  package var levels: LevelValues
  /// The delay in nanoseconds from the moment that the last sample was heard to the creation of the event.
  package var lateNanoseconds: Int64

  package init(subscription: Int, position: PlayerPosition, levels: LevelValues, lateNanoseconds: Int64) {
    (self.subscription, self.position) = (subscription, position)
    (self.levels, self.lateNanoseconds) = (levels, lateNanoseconds)
  }

  package static let definition = EventDefinition(
    .meter,
    "`meter`: the levels of the player up to `time`, with a value for each channel of the output. `average` is the"
      + " average power and `peak` the largest sample, in dBFS: 0 is full scale, and -160 is silence. `averageScale`"
      + " and `peakScale` are the same on a meter's scale, from 0 (-60 dBFS) to 1 (0 dBFS).")

  package static let fields: [Field<Self>] =
    [Field(.id) { $0.subscription }] + PlayerPosition.fields.map { $0.within(\.position) }
    + LevelValues.fields.map { $0.within(\.levels) } + [Field(.late) { $0.lateNanoseconds }]
}
