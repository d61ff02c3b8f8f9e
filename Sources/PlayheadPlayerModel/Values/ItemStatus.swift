import PlayheadMediaCore

/// Whether an item can be played; corresponds to AVPlayerItem.Status.
public enum ItemStatus: Sendable, Hashable {
  /// Not opened yet.
  case unknown
  /// The item is open and can be played.
  case readyToPlay
  /// The item cannot be played; final.
  case failed(MediaError)

  /// `unknown`, `readyToPlay` or `failed`.
  public var name: String {
    switch self {
    case .unknown: "unknown"
    case .readyToPlay: "readyToPlay"
    case .failed: "failed"
    }
  }

  /// The error of a failed item; nil otherwise.
  public var error: MediaError? { if case .failed(let error) = self { error } else { nil } }
}
