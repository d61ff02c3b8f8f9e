import MediaCore
import NetworkIO
import Playlists

/// Transfers of segments that one reader leaves to the next. Threading: any.
extension StreamSession {
  /// Keeps transfers in place of those that are kept. Each holds as many bytes as any resource (`HTTPOptions.aheadByteCount`).
  ///
  /// - Parameter log: the log of these transfers; a reader with another log does not get them.
  func keep(_ segments: [KeptSegment], log: NetworkLog) {
    if log === fetcher.log { signal.withState { $0.kept = segments } }
  }

  /// The transfer that is kept of a segment, if there is one. The next call returns nil.
  func takeKept(_ segment: HLSSegment, log: NetworkLog) -> HTTPResource? {
    guard log === fetcher.log else { return nil }
    return signal.withState { state in
      guard let index = state.kept.firstIndex(where: { $0.segment == segment }) else { return nil }
      return state.kept.remove(at: index).resource
    }
  }
}
