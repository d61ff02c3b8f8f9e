/// The table of error numbers. docs/protocol/reference/errors.md contains the same table; a test compares the two.
extension MediaError.Code {
  // MARK: 1xxx: usage. The request is invalid in the current state; an identical request fails again.
  public static let invalidArgument = Self(rawValue: 1001)
  public static let invalidTime = Self(rawValue: 1002)
  public static let invalidState = Self(rawValue: 1003)
  public static let noCurrentItem = Self(rawValue: 1004)
  public static let unsupportedRate = Self(rawValue: 1005)
  public static let noSuchPlayer = Self(rawValue: 1006)
  public static let playerExists = Self(rawValue: 1007)
  public static let noSuchObserver = Self(rawValue: 1008)
  public static let noSuchProperty = Self(rawValue: 1009)
  public static let itemInUse = Self(rawValue: 1010)
  public static let versionMismatch = Self(rawValue: 1011)
  public static let noSuchTrack = Self(rawValue: 1012)
  public static let noSuchChapter = Self(rawValue: 1013)
  public static let noSuchAsset = Self(rawValue: 1014)
  public static let wrongConfiguration = Self(rawValue: 1015)
  public static let noSuchRecorder = Self(rawValue: 1021)
  public static let sessionMismatch = Self(rawValue: 1030)
  public static let sessionBusy = Self(rawValue: 1031)
  public static let sessionInterrupted = Self(rawValue: 1032)
  public static let sessionForbidsRecording = Self(rawValue: 1033)

  // MARK: 2xxx: locations and their contents.
  public static let fileNotFound = Self(rawValue: 2001)
  public static let notAFile = Self(rawValue: 2002)
  public static let permissionDenied = Self(rawValue: 2003)
  public static let noSuchItem = Self(rawValue: 2004)
  public static let readFailed = Self(rawValue: 2005)
  public static let writeFailed = Self(rawValue: 2006)
  public static let unsupportedLocation = Self(rawValue: 2007)
  public static let outsideRoots = Self(rawValue: 2008)

  // The network.
  public static let networkNotAllowed = Self(rawValue: 2030)
  public static let networkUnavailable = Self(rawValue: 2031)
  public static let hostNotFound = Self(rawValue: 2032)
  public static let connectionRefused = Self(rawValue: 2033)
  public static let connectionLost = Self(rawValue: 2034)
  public static let networkTimedOut = Self(rawValue: 2035)
  public static let tlsFailed = Self(rawValue: 2036)
  public static let tooManyRedirects = Self(rawValue: 2037)
  public static let badHTTPResponse = Self(rawValue: 2038)
  public static let rangesNotSupported = Self(rawValue: 2039)
  public static let resourceChanged = Self(rawValue: 2040)
  public static let httpUnauthorized = Self(rawValue: 2041)
  public static let httpForbidden = Self(rawValue: 2042)
  public static let httpNotFound = Self(rawValue: 2043)
  public static let httpGone = Self(rawValue: 2044)
  public static let httpRangeNotSatisfiable = Self(rawValue: 2045)
  public static let httpRefused = Self(rawValue: 2046)
  public static let httpServerError = Self(rawValue: 2047)

  // Opening timeouts and sources that can be read only once or in order.
  public static let openingTimedOut = Self(rawValue: 2048)
  public static let onlyInOrder = Self(rawValue: 2049)
  public static let notReadable = Self(rawValue: 2050)
  public static let noSuchDescriptor = Self(rawValue: 2051)
  public static let tooManyDescriptors = Self(rawValue: 2052)
  public static let silenceLeftOut = Self(rawValue: 2053)
  public static let insecureRedirect = Self(rawValue: 2054)
  public static let addressNotAllowed = Self(rawValue: 2055)

  // Segmented streams (HLS).
  public static let badStreamPlaylist = Self(rawValue: 2060)
  public static let streamLimitExceeded = Self(rawValue: 2061)
  public static let streamPlaylistCycle = Self(rawValue: 2062)
  public static let streamLocationNotAllowed = Self(rawValue: 2063)
  public static let segmentUnavailable = Self(rawValue: 2064)
  public static let unsupportedEncryption = Self(rawValue: 2065)
  public static let decryptionFailed = Self(rawValue: 2066)
  public static let segmentsLeftWindow = Self(rawValue: 2067)
  public static let noPlayableVariant = Self(rawValue: 2068)
  public static let streamNotUpdated = Self(rawValue: 2069)
  public static let noSuchDate = Self(rawValue: 2070)

  // Artwork and tags.
  public static let fileExists = Self(rawValue: 2090)
  public static let noSuchArtwork = Self(rawValue: 2091)
  public static let imageTooLarge = Self(rawValue: 2092)
  public static let tagDataLimit = Self(rawValue: 2093)

  // Saved state.
  public static let stateUnavailable = Self(rawValue: 2110)
  public static let stateInUse = Self(rawValue: 2111)
  public static let stateDamaged = Self(rawValue: 2112)
  public static let stateTooNew = Self(rawValue: 2113)
  public static let stateForeign = Self(rawValue: 2114)
  public static let stateDiskFull = Self(rawValue: 2115)
  public static let stateNotSaved = Self(rawValue: 2116)
  public static let notRestorable = Self(rawValue: 2117)
  public static let noSuchSavedQueue = Self(rawValue: 2118)
  public static let tooManySavedQueues = Self(rawValue: 2119)
  public static let noSuchBookmark = Self(rawValue: 2120)
  public static let tooManyBookmarks = Self(rawValue: 2121)
  public static let crashedWhileOpening = Self(rawValue: 2122)
  public static let workerUnavailable = Self(rawValue: 2140)

  // MARK: 3xxx: containers.
  public static let emptyFile = Self(rawValue: 3001)
  public static let unknownFormat = Self(rawValue: 3002)
  public static let noPlayableTracks = Self(rawValue: 3003)
  public static let damagedFile = Self(rawValue: 3004)
  public static let mediaLimitExceeded = Self(rawValue: 3005)
  public static let wrongLength = Self(rawValue: 3006)
  public static let irregularTimestamps = Self(rawValue: 3007)
  public static let unsupportedEdit = Self(rawValue: 3008)
  public static let irregularChapters = Self(rawValue: 3009)
  public static let notAPlaylist = Self(rawValue: 3021)
  public static let damagedPlaylist = Self(rawValue: 3022)
  public static let playlistLimitExceeded = Self(rawValue: 3023)
  public static let playlistCycle = Self(rawValue: 3024)
  public static let emptyPlaylist = Self(rawValue: 3025)

  // MARK: 4xxx: codecs.
  public static let unknownCodec = Self(rawValue: 4001)
  public static let decodeFailed = Self(rawValue: 4002)
  public static let unsupportedAudioFormat = Self(rawValue: 4003)
  public static let conversionFailed = Self(rawValue: 4004)

  // MARK: 5xxx: devices.
  public static let outputUnavailable = Self(rawValue: 5001)
  public static let outputLost = Self(rawValue: 5002)
  public static let outputConfiguration = Self(rawValue: 5003)
  public static let notVirtualClock = Self(rawValue: 5004)
  public static let deviceLost = Self(rawValue: 5011)
  public static let noSuchDevice = Self(rawValue: 5012)
  public static let sourceUnavailable = Self(rawValue: 5021)
  public static let sourceLost = Self(rawValue: 5022)
  public static let sourceConfiguration = Self(rawValue: 5023)

  // MARK: 6xxx: the protocol.
  public static let unknownCommand = Self(rawValue: 6001)
  public static let badArguments = Self(rawValue: 6002)
  public static let lineTooLong = Self(rawValue: 6003)
  public static let invalidUTF8 = Self(rawValue: 6004)
  public static let badQuoting = Self(rawValue: 6005)
  public static let idInUse = Self(rawValue: 6006)
  public static let tooManyConnections = Self(rawValue: 6007)
  public static let tooManySubscriptions = Self(rawValue: 6008)
  public static let outputOverflow = Self(rawValue: 6009)
  public static let notAllowed = Self(rawValue: 6010)
  public static let timedOut = Self(rawValue: 6011)
  public static let waitEnded = Self(rawValue: 6012)
  public static let queueTooLong = Self(rawValue: 6013)
  public static let tooManyPlayers = Self(rawValue: 6014)
  public static let cancelled = Self(rawValue: 6015)
  public static let invalidJSON = Self(rawValue: 6016)
  public static let shuttingDown = Self(rawValue: 6017)
  public static let editTooLarge = Self(rawValue: 6018)
  public static let tooManyAssets = Self(rawValue: 6019)
  public static let noSuchRequest = Self(rawValue: 6020)
  public static let tooManyRecorders = Self(rawValue: 6022)
  public static let batchTooLarge = Self(rawValue: 6023)
  public static let otherInstance = Self(rawValue: 6030)
  public static let noSuchEvent = Self(rawValue: 6031)

  /// Number → wire name, for every code above.
  public static let names: [Int: String] = [
    1001: "invalid-argument", 1002: "invalid-time", 1003: "invalid-state", 1004: "no-current-item",
    1005: "unsupported-rate", 1006: "no-such-player", 1007: "player-exists", 1008: "no-such-observer",
    1009: "no-such-property", 1010: "item-in-use", 1011: "version-mismatch", 1012: "no-such-track",
    1013: "no-such-chapter",
    1014: "no-such-asset",
    1015: "wrong-configuration",
    1021: "no-such-recorder",
    1030: "session-mismatch", 1031: "session-busy", 1032: "session-interrupted", 1033: "session-forbids-recording",
    2001: "file-not-found", 2002: "not-a-file", 2003: "permission-denied", 2004: "no-such-item",
    2005: "read-failed", 2006: "write-failed", 2007: "unsupported-location",
    2008: "outside-roots",
    2030: "network-not-allowed", 2031: "network-unavailable", 2032: "host-not-found", 2033: "connection-refused",
    2034: "connection-lost", 2035: "network-timed-out", 2036: "tls-failed", 2037: "too-many-redirects",
    2038: "bad-http-response", 2039: "ranges-not-supported", 2040: "resource-changed", 2041: "http-unauthorized",
    2042: "http-forbidden", 2043: "http-not-found", 2044: "http-gone", 2045: "http-range-not-satisfiable",
    2046: "http-refused", 2047: "http-server-error",
    2048: "opening-timed-out", 2049: "only-in-order", 2050: "not-readable", 2051: "no-such-descriptor",
    2052: "too-many-descriptors", 2053: "silence-left-out", 2054: "insecure-redirect",
    2055: "address-not-allowed",
    2060: "bad-stream-playlist", 2061: "stream-limit-exceeded", 2062: "stream-playlist-cycle",
    2063: "stream-location-not-allowed", 2064: "segment-unavailable", 2065: "unsupported-encryption",
    2066: "decryption-failed", 2067: "segments-left-window", 2068: "no-playable-variant", 2069: "stream-not-updated",
    2070: "no-such-date",
    2090: "file-exists", 2091: "no-such-artwork", 2092: "image-too-large", 2093: "tag-data-limit",
    2110: "state-unavailable", 2111: "state-in-use", 2112: "state-damaged", 2113: "state-too-new",
    2114: "state-foreign", 2115: "state-disk-full", 2116: "state-not-saved", 2117: "not-restorable",
    2118: "no-such-saved-queue", 2119: "too-many-saved-queues",
    2120: "no-such-bookmark", 2121: "too-many-bookmarks", 2122: "crashed-while-opening", 2140: "worker-unavailable",
    3001: "empty-file", 3002: "unknown-format", 3003: "no-playable-tracks", 3004: "damaged-file",
    3005: "media-limit-exceeded", 3006: "wrong-length", 3007: "irregular-timestamps",
    3008: "unsupported-edit", 3009: "irregular-chapters",
    3021: "not-a-playlist", 3022: "damaged-playlist", 3023: "playlist-limit-exceeded", 3024: "playlist-cycle",
    3025: "empty-playlist",
    4001: "unknown-codec", 4002: "decode-failed", 4003: "unsupported-audio-format", 4004: "conversion-failed",
    5001: "output-unavailable", 5002: "output-lost", 5003: "output-configuration", 5004: "not-virtual-clock",
    5011: "device-lost", 5012: "no-such-device",
    5021: "source-unavailable", 5022: "source-lost", 5023: "source-configuration",
    6001: "unknown-command", 6002: "bad-arguments", 6003: "line-too-long", 6004: "invalid-utf8",
    6005: "bad-quoting", 6006: "id-in-use", 6007: "too-many-connections", 6008: "too-many-subscriptions",
    6009: "output-overflow", 6010: "not-allowed", 6011: "timed-out", 6012: "wait-ended",
    6013: "queue-too-long", 6014: "too-many-players", 6015: "cancelled", 6016: "invalid-json",
    6017: "shutting-down", 6018: "edit-too-large",
    6019: "too-many-assets",
    6020: "no-such-request",
    6022: "too-many-recorders",
    6023: "batch-too-large",
    6030: "other-instance", 6031: "no-such-event",
  ]
}
