import PlayheadMediaCore

extension CommandTable {
  /// Options of network requests.
  static let network = [
    ParameterSpec(
      .header, .texts(maximumByteCount: 16_384, separator: .newline), .option, "FIELDS",
      "header fields of requests, each `Name: value`"),
    ParameterSpec(
      .headerFor, .word(["origin", "any"]), .option, "origin|any",
      "the servers that receive `header`: only the URL's scheme, host and port (`origin`; default) or every server (`any`)"
    ),
    ParameterSpec(
      .userAgent, .text(maximumByteCount: 1_024), .option, "TEXT",
      "the User-Agent of requests; default: `Playhead/VERSION`"),
    ParameterSpec(
      .network, .boolean, .option, "true|false",
      "whether network access is allowed; `false`: a file that needs it fails"),
    ParameterSpec(
      .interface, .texts(maximumByteCount: 256, separator: .comma), .option, "NAMES",
      "the network interfaces that may be used; default: all"),
    ParameterSpec(
      .timeout, .duration(positive: true), .option, "TIME",
      "the timeout for connecting (default: 10 s), for the reply (15 s), and between reads (15 s)"
    ),
    ParameterSpec(
      .peakBitRate, .integer(0...1_000_000_000_000), .option, "BPS",
      "the maximum bit rate of a variant of an HLS stream, in bits per second; default: 0, no limit"),
  ]
  /// The version that the queue must have for a request that changes it.
  static let ifVersion = ParameterSpec(
    .ifVersion, .integer(0...Int.max), .option, "VERSION", "only if the queue has this version")
}
