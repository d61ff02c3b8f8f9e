import FoundationEssentials
import PlayheadMediaCore

/// Makes `error.localizedDescription`, which Foundation adds to every error, the text of the error.
extension MediaError: LocalizedError {
  public var errorDescription: String? { description }
}
