import PlayheadMediaCore
import PlayheadPlayerModel

/// The properties of an item that can be observed.
public struct ItemState: Sendable, Hashable {
  /// `unknown` until a player has opened the item.
  public var status: ItemStatus
  /// Indefinite until the item is ready.
  public var duration: MediaTime
  /// Whether `duration` is exact, not an estimate.
  public var providesPreciseDuration: Bool
}

extension PlayerItem {
  /// A property of the item: its value now, and then each change, in order. Also for items that are not current, or in
  /// no queue yet. The sequence ends when the item is released.
  ///
  /// <!-- listing: observe-item -->
  /// ```swift
  /// for await change in item.changes(of: \.status) where change.new != .unknown {
  ///   if let error = change.new.error { print(error) }
  ///   break
  /// }
  /// ```
  ///
  /// The cause of a change is `itemLoaded`, `itemFailed`, or `request` if a failed item is opened again. A consumer
  /// that is more than 64 changes late misses the oldest.
  public func changes<Value: Sendable & Equatable>(
    of property: any KeyPath<ItemState, Value> & Sendable
  ) -> AsyncStream<PropertyChange<Value>> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: PropertyChange<Value>.self, bufferingPolicy: .bufferingNewest(64))
    let number = addObserver(
      Observer(
        finish: { continuation.finish() },
        handler: { old, new, cause in
          let oldValue = old?[keyPath: property]
          let newValue = new[keyPath: property]
          if oldValue != newValue { continuation.yield(PropertyChange(old: oldValue, new: newValue, cause: cause)) }
        }))
    continuation.onTermination = { [weak self] _ in self?.removeObserver(number) }
    return stream
  }
}
