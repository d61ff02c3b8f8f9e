import PlayheadMediaCore

/// Whether an item can be played; corresponds to AVPlayerItem.Status.
public enum ItemStatus: Sendable, Hashable {
  /// Not opened yet.
  case unknown
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

  public var error: MediaError? { if case .failed(let error) = self { error } else { nil } }
}
