import MediaAssets
import MediaCore
import Synchronization

/// An asset on its way through a player: its place in a queue, and how far it is. As AVPlayerItem.
///
/// An item belongs to one queue at a time. To play an asset twice, make two items of it; they share what the asset
/// knows.
///
/// Threading: all properties may be read from any thread; they never block.
public final class PlayerItem: Sendable {
  /// Names an item; unique in the process and never used again.
  public typealias ID = UInt64

  private struct State {
    var status = ItemStatus.unknown
    var duration = MediaTime.indefinite
    var providesPreciseDuration = false
    var owner: ObjectIdentifier?
  }

  private static let nextID = Atomic<UInt64>(1)

  public let id: ID
  public let asset: Asset
  private let state = Mutex(State())

  /// Makes an item of `asset`. Nothing is opened before a player has it.
  public convenience init(asset: Asset) {
    self.init(asset: asset, id: Self.nextID.wrappingAdd(1, ordering: .relaxed).oldValue)
  }

  /// Makes an item with an id of the caller's own numbering.
  public init(asset: Asset, id: ID) {
    self.asset = asset
    self.id = id
  }

  /// `unknown` until a player has opened the item.
  public var status: ItemStatus { state.withLock { $0.status } }

  /// Indefinite until the item is ready.
  public var duration: MediaTime { state.withLock { $0.duration } }

  /// Whether `duration` is what the item really lasts, not an estimate. An estimate is replaced, and the change told
  /// (`PlayerEvent.itemChanged`), when the end of the sound has been read.
  public var providesPreciseDuration: Bool { state.withLock { $0.providesPreciseDuration } }

  /// Why the item failed; nil unless `status` is `failed`.
  public var error: MediaError? { status.error }

  /// Takes the item for a player; false when another has it.
  func claim(by owner: AnyObject) -> Bool {
    state.withLock { state in
      guard state.owner == nil || state.owner == ObjectIdentifier(owner) else { return false }
      state.owner = ObjectIdentifier(owner)
      return true
    }
  }

  var isClaimed: Bool { state.withLock { $0.owner != nil } }

  func release() { state.withLock { $0.owner = nil } }

  /// It is ready, or more is known of it. False when that was known before.
  func update(_ properties: AssetProperties) -> Bool {
    state.withLock { state in
      let isKnown =
        state.status == .readyToPlay && state.duration == properties.duration
        && state.providesPreciseDuration == properties.providesPreciseDuration
      state.status = .readyToPlay
      state.duration = properties.duration
      state.providesPreciseDuration = properties.providesPreciseDuration
      return !isKnown
    }
  }

  func fail(_ error: MediaError) { state.withLock { $0.status = .failed(error) } }
}
