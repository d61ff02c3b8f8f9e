/// Playback on a virtual clock, for the tests of programs that use Playhead.
@_exported import Playhead
@_exported import PlayheadTimeCode
