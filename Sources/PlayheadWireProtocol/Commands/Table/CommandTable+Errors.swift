import PlayheadMediaCore

extension CommandTable {
  /// Errors that many commands share, listed once in the reference.
  package struct ErrorGroup: Sendable {
    /// The name in the reference.
    package let name: String
    package let codes: [MediaError.Code]
  }

  /// The groups of shared errors.
  package static let errorGroups = [
    ErrorGroup(name: "file errors", codes: fileErrors), ErrorGroup(name: "network errors", codes: networkErrors),
    ErrorGroup(name: "request errors", codes: requestErrors),
  ]

  /// Errors of opening and reading a file.
  static let fileErrors: [MediaError.Code] = [
    .fileNotFound, .notAFile, .permissionDenied, .readFailed, .outsideRoots, .emptyFile, .unknownFormat,
    .noPlayableTracks, .damagedFile, .mediaLimitExceeded, .unknownCodec, .decodeFailed, .unsupportedAudioFormat,
    .notReadable, .noSuchDescriptor, .notRestorable, .crashedWhileOpening,
  ]

  /// Additional errors of URLs, which do not occur with files.
  static let networkErrors: [MediaError.Code] = [
    .networkNotAllowed, .addressNotAllowed, .networkUnavailable, .hostNotFound, .connectionRefused, .connectionLost,
    .networkTimedOut, .tlsFailed, .tooManyRedirects, .insecureRedirect, .badHTTPResponse, .httpUnauthorized,
    .httpForbidden, .httpNotFound, .httpGone, .httpRefused, .httpServerError, .openingTimedOut, .badStreamPlaylist,
    .streamLimitExceeded, .streamPlaylistCycle, .streamLocationNotAllowed, .segmentUnavailable, .unsupportedEncryption,
    .decryptionFailed, .noPlayableVariant,
  ]

  /// Errors of a file or a URL.
  static let mediaErrors = fileErrors + networkErrors

  /// The errors of operations that need seeking, for sources that are only readable in order: stations and pipes.
  static let streamErrors: [MediaError.Code] = [.rangesNotSupported, .onlyInOrder]

  /// Errors of any request.
  static let requestErrors: [MediaError.Code] = [
    .unknownCommand, .badArguments, .invalidTime, .invalidUTF8, .invalidJSON, .lineTooLong, .idInUse, .batchTooLarge,
    .unsupportedLocation, .noSuchPlayer, .notAllowed, .cancelled, .shuttingDown,
  ]
}
