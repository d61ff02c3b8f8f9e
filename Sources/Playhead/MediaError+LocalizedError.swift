import FoundationEssentials
import MediaCore

/// `error.localizedDescription`, which Foundation adds to every error, is the text of the error.
extension MediaError: LocalizedError {
  public var errorDescription: String? { description }
}
