import PlayheadRealtimeAudio

/// Owns a value that is freed on another thread, because that takes long. The owner must not keep another reference to
/// the value, because the last reference frees it.
///
/// Threading: one owner, until `freeOnAnotherThread`.
package final class DiscardedValue<Value: Sendable>: @unchecked Sendable {
  // `@unchecked Sendable`: the thread that frees the value starts after the last use by the owner.
  /// The value; nil after it was freed.
  package private(set) var value: Value?

  /// Creates an owner of a value.
  package init(_ value: Value) { self.value = value }

  /// Frees the value. It must not be used any more.
  package func freeOnAnotherThread() { NamedThread.detached(name: "free") { self.value = nil } }
}
