/// Playhead with the types of Foundation: `URL`, `Data`, `Date` and `TimeInterval`.
@_exported import Playhead
