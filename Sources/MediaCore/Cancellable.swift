/// Blocking work that other threads can interrupt. Threading: any; neither call blocks.
public protocol Cancellable: AnyObject, Sendable {
  /// Makes the present call and later ones fail with `cancelled`.
  func cancel()

  /// Allows calls again after `cancel`.
  func resume()
}
