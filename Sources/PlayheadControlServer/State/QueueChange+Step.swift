import PlayheadPlayerModel
import PlayheadWireProtocol

extension QueueChange {
  /// Creates the value on the wire for a step of an edit.
  init(_ step: QueueStep) {
    self =
      switch step {
      case .inserted(let id, let index): .insert(item: id, index: index)
      case .removed(let id, let index): .remove(item: id, index: index)
      case .moved(let id, let from, let to): .move(item: id, from: from, index: to)
      case .rotated(let count): .rotate(count: count)
      }
  }
}
