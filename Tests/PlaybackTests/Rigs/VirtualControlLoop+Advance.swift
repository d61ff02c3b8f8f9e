import PlayheadControlLoop

extension VirtualControlLoop {
  /// Lets virtual time pass, and returns when all effects have happened.
  func advance(byNanoseconds nanoseconds: Int64) async {
    await withCheckedContinuation { continuation in
      execute { self.advance(byNanoseconds: nanoseconds) { continuation.resume() } }
    }
  }
}
