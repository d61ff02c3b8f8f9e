/// The choice of one of several tracks.
package enum TrackChoice: Sendable, Hashable {
  /// The track with this number in the file, from 0.
  case track(Int)
  /// The best track in a language.
  case language(String)
  /// No track.
  case none
  /// The default of the file.
  case automatic
}
