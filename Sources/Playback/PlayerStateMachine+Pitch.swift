import MediaCore

/// Another pitch algorithm while there is a stream.
extension PlayerStateMachine {
  /// Item `id`, or with nil any of them, is to be played with another algorithm; `time` of the current item is being heard.
  /// At the rate 1 nothing is decoded anew: no algorithm is at work.
  mutating func timePitchChanged(of id: ItemID?, from time: MediaTime) -> [Action] {
    guard decodedSpeed.magnitude != .normal else { return [] }
    if let id { return decodeAnew(id, from: time) }
    return entries.first.map { decodeAnew($0.id, from: time) } ?? []
  }
}
