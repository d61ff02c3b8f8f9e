/// Blocking work that other threads can interrupt. Threading: any thread; the calls do not block.
public protocol Cancellable: AnyObject, Sendable {
  /// Makes current and later blocking calls fail with `cancelled`, until `resume`.
  func cancel()

  /// Permits blocking calls again after `cancel`.
  func resume()
}
