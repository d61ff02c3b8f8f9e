/// The table of error numbers. docs/protocol/reference/errors.md contains the same table; a test compares the two.
extension MediaError.Code {
  // MARK: 1xxx: usage. The request is invalid in the current state; an identical request fails again.
  /// An argument has a wrong value, or arguments exclude each other.
  public static let invalidArgument = Self(rawValue: 1001)
  /// Not a time, or a time of a form or range that is not accepted here.
  public static let invalidTime = Self(rawValue: 1002)
  /// Not possible in the current state.
  public static let invalidState = Self(rawValue: 1003)
  /// The player has no current item.
  public static let noCurrentItem = Self(rawValue: 1004)
  /// The item cannot be played at this rate.
  public static let unsupportedRate = Self(rawValue: 1005)
  /// No player has this name. For the daemon only.
  public static let noSuchPlayer = Self(rawValue: 1006)
  /// A player of this name exists.
  public static let playerExists = Self(rawValue: 1007)
  /// The player, engine, session or looper has no observer with this token.
  public static let noSuchObserver = Self(rawValue: 1008)
  /// No observable key has this name. For the daemon only.
  public static let noSuchProperty = Self(rawValue: 1009)
  /// The item is already in a queue.
  public static let itemInUse = Self(rawValue: 1010)
  /// The queue has changed since that version: list it again.
  public static let versionMismatch = Self(rawValue: 1011)
  /// The file has no such track, or none of that kind.
  public static let noSuchTrack = Self(rawValue: 1012)
  /// The item has no such chapter.
  public static let noSuchChapter = Self(rawValue: 1013)
  /// The connection has no open asset with this number. For the daemon only.
  public static let noSuchAsset = Self(rawValue: 1014)
  /// The configuration file is invalid and was rejected; the message states the position.
  public static let wrongConfiguration = Self(rawValue: 1015)
  /// No recorder has this number, or there is none.
  public static let noSuchRecorder = Self(rawValue: 1021)
  /// The category of the session does not support the mode or option.
  public static let sessionMismatch = Self(rawValue: 1030)
  /// The session was deactivated while something played or recorded; players are paused.
  public static let sessionBusy = Self(rawValue: 1031)
  /// Another program interrupts playback. End the interruption first.
  public static let sessionInterrupted = Self(rawValue: 1032)
  /// The category of the session does not allow recording.
  public static let sessionForbidsRecording = Self(rawValue: 1033)

  // MARK: 2xxx: locations and their contents.
  /// The file does not exist.
  public static let fileNotFound = Self(rawValue: 2001)
  /// A folder, a device, or something else that is not a regular file.
  public static let notAFile = Self(rawValue: 2002)
  /// The process has no permission to read or write the file.
  public static let permissionDenied = Self(rawValue: 2003)
  /// No item of the queue has this id, or it is not the current one.
  public static let noSuchItem = Self(rawValue: 2004)
  /// The file cannot be read.
  public static let readFailed = Self(rawValue: 2005)
  /// The file cannot be written.
  public static let writeFailed = Self(rawValue: 2006)
  /// A URL of a scheme or kind that cannot be played.
  public static let unsupportedLocation = Self(rawValue: 2007)
  /// The path is not below a root, or a link or `..` leads outside.
  public static let outsideRoots = Self(rawValue: 2008)

  // The network.
  /// The item was loaded without permission to use the network.
  public static let networkNotAllowed = Self(rawValue: 2030)
  /// No route to the server, the required interface is missing, or libcurl cannot start.
  public static let networkUnavailable = Self(rawValue: 2031)
  /// The host is unknown, or no name server replies.
  public static let hostNotFound = Self(rawValue: 2032)
  /// The server's address refuses connections.
  public static let connectionRefused = Self(rawValue: 2033)
  /// The connection was lost, and all further attempts failed.
  public static let connectionLost = Self(rawValue: 2034)
  /// The server did not reply, or sent too little, in time; or an entry stalled for too long.
  public static let networkTimedOut = Self(rawValue: 2035)
  /// No trusted connection: the certificate is not trusted, is for another host, or has expired.
  public static let tlsFailed = Self(rawValue: 2036)
  /// More than 10 redirects.
  public static let tooManyRedirects = Self(rawValue: 2037)
  /// The reply is not valid HTTP, or contradicts the request.
  public static let badHTTPResponse = Self(rawValue: 2038)
  /// The server does not support ranges, and the position is too far away.
  public static let rangesNotSupported = Self(rawValue: 2039)
  /// The resource on the server has changed.
  public static let resourceChanged = Self(rawValue: 2040)
  /// HTTP status 401.
  public static let httpUnauthorized = Self(rawValue: 2041)
  /// HTTP status 403.
  public static let httpForbidden = Self(rawValue: 2042)
  /// HTTP status 404.
  public static let httpNotFound = Self(rawValue: 2043)
  /// HTTP status 410.
  public static let httpGone = Self(rawValue: 2044)
  /// HTTP status 416.
  public static let httpRangeNotSatisfiable = Self(rawValue: 2045)
  /// Another HTTP status from 400 to 499.
  public static let httpRefused = Self(rawValue: 2046)
  /// An HTTP status from 500 on.
  public static let httpServerError = Self(rawValue: 2047)

  // Opening timeouts and sources that can be read only once or in order.
  /// Opening takes longer than 30 s, or than the time-outs of its server allow.
  public static let openingTimedOut = Self(rawValue: 2048)
  /// A pipe or socket can only be read once, in order.
  public static let onlyInOrder = Self(rawValue: 2049)
  /// The descriptor cannot be played: a folder, a terminal, another device, or not open for reading; or a message
  /// without a descriptor.
  public static let notReadable = Self(rawValue: 2050)
  /// No descriptor of this number is pending: it was used already, or closed.
  public static let noSuchDescriptor = Self(rawValue: 2051)
  /// Too many descriptors are pending or open.
  public static let tooManyDescriptors = Self(rawValue: 2052)
  /// A CUE sheet contains silence that is not in the file; it is not played.
  public static let silenceLeftOut = Self(rawValue: 2053)
  /// An `https` server redirects to an `http` address.
  public static let insecureRedirect = Self(rawValue: 2054)
  /// The network rules do not allow the server's name or address.
  public static let addressNotAllowed = Self(rawValue: 2055)

  // Segmented streams (HLS).
  /// An HLS playlist is invalid; the message states the position.
  public static let badStreamPlaylist = Self(rawValue: 2060)
  /// An HLS playlist of more than 8 MiB, 100,000 segments or 512 variants, or without an end; a key or section that is
  /// too large.
  public static let streamLimitExceeded = Self(rawValue: 2061)
  /// A playlist that names itself, or a list of variants that names another one.
  public static let streamPlaylistCycle = Self(rawValue: 2062)
  /// A playlist of a server that names a local file, or a location that is neither `http` nor `https`.
  public static let streamLocationNotAllowed = Self(rawValue: 2063)
  /// A segment failed in three attempts: silence replaces it; the fifth in a row ends the item.
  public static let segmentUnavailable = Self(rawValue: 2064)
  /// Segments with an encryption other than AES-128, such as `SAMPLE-AES`.
  public static let unsupportedEncryption = Self(rawValue: 2065)
  /// An invalid key, or a segment that the key does not decrypt.
  public static let decryptionFailed = Self(rawValue: 2066)
  /// The next segments have left the live window: playback continues with the available ones.
  public static let segmentsLeftWindow = Self(rawValue: 2067)
  /// No variant has audio that can be played.
  public static let noPlayableVariant = Self(rawValue: 2068)
  /// A live playlist has not changed for three target durations; it is requested again.
  public static let streamNotUpdated = Self(rawValue: 2069)
  /// The item has no dates, or none at that time.
  public static let noSuchDate = Self(rawValue: 2070)

  // Artwork and tags.
  /// The file exists and may not be replaced.
  public static let fileExists = Self(rawValue: 2090)
  /// The tags have no image of that number, or none at all.
  public static let noSuchArtwork = Self(rawValue: 2091)
  /// An image, or other data in a tag, of more than 16 MiB: listed, but not read.
  public static let imageTooLarge = Self(rawValue: 2092)
  /// The open assets have 64 MiB of images, data and long texts, which is the limit: listed, but not kept. An image
  /// is read again for each request.
  public static let tagDataLimit = Self(rawValue: 2093)

  // Saved state.
  /// The folder or file of the saved state cannot be used.
  public static let stateUnavailable = Self(rawValue: 2110)
  /// Another daemon saves its state in the folder; this one saves nothing.
  public static let stateInUse = Self(rawValue: 2111)
  /// The saved state was damaged: it was set aside, and a new one was created.
  public static let stateDamaged = Self(rawValue: 2112)
  /// A newer version saved the state: it is left unchanged, and nothing is saved.
  public static let stateTooNew = Self(rawValue: 2113)
  /// The file of the saved state is another program's database: it is left unchanged, and nothing is saved.
  public static let stateForeign = Self(rawValue: 2114)
  /// The disk is full; changes are saved when there is space.
  public static let stateDiskFull = Self(rawValue: 2115)
  /// The daemon runs without saving its state.
  public static let stateNotSaved = Self(rawValue: 2116)
  /// The entry was a descriptor or standard input of an earlier daemon.
  public static let notRestorable = Self(rawValue: 2117)
  /// No queue was saved under this name.
  public static let noSuchSavedQueue = Self(rawValue: 2118)
  /// 1,000 queues are saved, which is the limit.
  public static let tooManySavedQueues = Self(rawValue: 2119)
  /// No bookmark has this number, or this name in the current entry.
  public static let noSuchBookmark = Self(rawValue: 2120)
  /// 1,000 bookmarks were set by clients, which is the limit.
  public static let tooManyBookmarks = Self(rawValue: 2121)
  /// The process crashed while it opened the entry, before this start. Add the entry again to retry.
  public static let crashedWhileOpening = Self(rawValue: 2122)
  /// The worker process for untrusted bytes cannot be started, or 64 are busy.
  public static let workerUnavailable = Self(rawValue: 2140)

  // MARK: 3xxx: containers.
  /// The file is empty.
  public static let emptyFile = Self(rawValue: 3001)
  /// Not a media file of a known format.
  public static let unknownFormat = Self(rawValue: 3002)
  /// The file has neither audio nor video.
  public static let noPlayableTracks = Self(rawValue: 3003)
  /// The container is damaged.
  public static let damagedFile = Self(rawValue: 3004)
  /// More than is supported: channels, sample rate, number of streams.
  public static let mediaLimitExceeded = Self(rawValue: 3005)
  /// The file is longer than its header states; all of it plays. Or a server states a wrong length.
  public static let wrongLength = Self(rawValue: 3006)
  /// Timestamps jump forward or back; time continues without a jump, or with silence where audio may be missing.
  public static let irregularTimestamps = Self(rawValue: 3007)
  /// An edit list changes the rate or repeats one moment: media plays at its own rate, and such a moment is silence;
  /// when writing: the container cannot represent the cut.
  public static let unsupportedEdit = Self(rawValue: 3008)
  /// Chapters overlap, are out of order or after the end: they are sorted, shortened or left out.
  public static let irregularChapters = Self(rawValue: 3009)
  /// Not a playlist of a known format; an HLS stream is not one.
  public static let notAPlaylist = Self(rawValue: 3021)
  /// The playlist cannot be read; the message states the position.
  public static let damagedPlaylist = Self(rawValue: 3022)
  /// A playlist that is too long, has too many entries, or is nested too deep.
  public static let playlistLimitExceeded = Self(rawValue: 3023)
  /// A playlist that names itself, directly or through others.
  public static let playlistCycle = Self(rawValue: 3024)
  /// A playlist without playable entries; the error describes them.
  public static let emptyPlaylist = Self(rawValue: 3025)

  // MARK: 4xxx: codecs.
  /// No decoder for the codec.
  public static let unknownCodec = Self(rawValue: 4001)
  /// The decoder failed.
  public static let decodeFailed = Self(rawValue: 4002)
  /// Audio of a format that cannot be converted.
  public static let unsupportedAudioFormat = Self(rawValue: 4003)
  /// The conversion of audio failed.
  public static let conversionFailed = Self(rawValue: 4004)

  // MARK: 5xxx: devices.
  /// The output cannot be opened.
  public static let outputUnavailable = Self(rawValue: 5001)
  /// The output was lost; the position is kept.
  public static let outputLost = Self(rawValue: 5002)
  /// The output does not support this configuration.
  public static let outputConfiguration = Self(rawValue: 5003)
  /// The daemon does not use the virtual clock.
  public static let notVirtualClock = Self(rawValue: 5004)
  /// The device of the output went away; its sound server is running.
  public static let deviceLost = Self(rawValue: 5011)
  /// The sound server has no output device of that name.
  public static let noSuchDevice = Self(rawValue: 5012)
  /// The source cannot be opened: no sound server replies, or it has no such source.
  public static let sourceUnavailable = Self(rawValue: 5021)
  /// The source went away; the audio recorded before is in the file.
  public static let sourceLost = Self(rawValue: 5022)
  /// The source does not support this configuration.
  public static let sourceConfiguration = Self(rawValue: 5023)

  // MARK: 6xxx: the protocol.
  /// The command does not exist.
  public static let unknownCommand = Self(rawValue: 6001)
  /// Missing, unexpected or invalid arguments; the message states which, and what is accepted.
  public static let badArguments = Self(rawValue: 6002)
  /// The line is longer than the limit and was discarded.
  public static let lineTooLong = Self(rawValue: 6003)
  /// The line is not UTF-8.
  public static let invalidUTF8 = Self(rawValue: 6004)
  /// An invalid quote or escape; the message states the column.
  public static let badQuoting = Self(rawValue: 6005)
  /// A waiting request has this id.
  public static let idInUse = Self(rawValue: 6006)
  /// The daemon has the maximum number of connections.
  public static let tooManyConnections = Self(rawValue: 6007)
  /// This connection has the maximum number of subscriptions, or all together have too many.
  public static let tooManySubscriptions = Self(rawValue: 6008)
  /// Too many pending bytes: the client did not read its replies, or requested too long a list.
  public static let outputOverflow = Self(rawValue: 6009)
  /// This client has no right to do this.
  public static let notAllowed = Self(rawValue: 6010)
  /// The event did not occur in time.
  public static let timedOut = Self(rawValue: 6011)
  /// The event cannot occur any more.
  public static let waitEnded = Self(rawValue: 6012)
  /// The queue would exceed its limit of entries, or of bytes of paths and options.
  public static let queueTooLong = Self(rawValue: 6013)
  /// The daemon has the maximum number of players.
  public static let tooManyPlayers = Self(rawValue: 6014)
  /// The operation was cancelled, or its player was closed.
  public static let cancelled = Self(rawValue: 6015)
  /// Not JSON, or not a JSON-RPC 2.0 request.
  public static let invalidJSON = Self(rawValue: 6016)
  /// The daemon is shutting down.
  public static let shuttingDown = Self(rawValue: 6017)
  /// More edits were collected after `queue.begin` than allowed, on this or on all connections; earlier ones stay.
  public static let editTooLarge = Self(rawValue: 6018)
  /// This connection has the maximum number of open assets.
  public static let tooManyAssets = Self(rawValue: 6019)
  /// No request with that id waits on this connection.
  public static let noSuchRequest = Self(rawValue: 6020)
  /// The daemon has the maximum number of active recorders.
  public static let tooManyRecorders = Self(rawValue: 6022)
  /// The replies of the batch are too large; this request was not executed.
  public static let batchTooLarge = Self(rawValue: 6023)
  /// The number belongs to another instance of the daemon: start again.
  public static let otherInstance = Self(rawValue: 6030)
  /// No event has had this number yet.
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
