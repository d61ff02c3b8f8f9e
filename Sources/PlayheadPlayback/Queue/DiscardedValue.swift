import PlayheadRealtimeAudio

/// Owns a value that is freed on another thread, because that takes long. The owner must not keep another reference to
/// the value, because the last reference frees it.
///
/// Threading: one owner, until `freeOnAnotherThread`.
public final class DiscardedValue<Value: Sendable>: @unchecked Sendable {
  // `@unchecked Sendable`: the thread that frees the value starts after the last use by the owner.
  /// The value; nil after it was freed.
  public private(set) var value: Value?

  /// Creates an owner of a value.
  public init(_ value: Value) { self.value = value }

  /// Frees the value. It must not be used any more.
  public func freeOnAnotherThread() { NamedThread.detached(name: "free") { self.value = nil } }
}
