import MediaCore
import NetworkIO
import Playlists

/// Transfers of segments that one reader leaves for the next reader. Threading: any thread.
extension StreamSession {
  /// Keeps transfers, replacing those kept before. Each retains at most as many bytes as any resource
  /// (`HTTPOptions.aheadByteCount`).
  ///
  /// - Parameter log: The log of these transfers. A reader with another log does not get them.
  func keep(_ segments: [KeptSegment], log: NetworkLog) {
    if log === fetcher.log { signal.withState { $0.kept = segments } }
  }

  /// Removes and returns the kept transfer of a segment; nil if there is none.
  func takeKept(_ segment: HLSSegment, log: NetworkLog) -> HTTPResource? {
    guard log === fetcher.log else { return nil }
    return signal.withState { state in
      guard let index = state.kept.firstIndex(where: { $0.segment == segment }) else { return nil }
      return state.kept.remove(at: index).resource
    }
  }
}
