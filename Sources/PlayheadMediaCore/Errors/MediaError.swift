/// The error of every public function of Playhead and of every error reply on the wire.
///
/// <!-- listing: handle-errors -->
/// ```swift
/// do {
///   let duration = try await Asset(path: "/music/one.flac").load(.duration)
///   print(duration.seconds)
/// } catch {
///   switch error.code {
///   case .fileNotFound: print("no such file")
///   case .unknownFormat, .damagedFile: print("not a media file that Playhead can read")
///   default: print(error)
///   }
/// }
/// ```
///
/// The numbers are part of the protocol (docs/protocol/reference/errors.md) and never change their meaning.
public struct MediaError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  /// A numbered kind of error. Unknown numbers are preserved.
  public struct Code: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    public var rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The wire name, such as `no-such-item`; `error-N` for a number without one.
    public var name: String { Self.names[rawValue] ?? "error-\(rawValue)" }
    public var description: String { "\(rawValue) \(name)" }
  }

  /// The kind of the error.
  public var code: Code
  /// One sentence for users: the problem and, where useful, the correct alternative.
  public var message: String
  /// The call or command that failed, such as `avformat_open_input` or `seek`; nil when the message names it.
  public var operation: String?
  /// The error text of a lower layer, such as `No such file or directory (errno 2)`.
  public var underlying: String?

  /// Creates an error.
  public init(_ code: Code, _ message: String, operation: String? = nil, underlying: String? = nil) {
    self.code = code
    self.message = message
    self.operation = operation
    self.underlying = underlying
  }

  public var description: String {
    var text = "\(code.rawValue) \(code.name): \(message)"
    if let operation { text += " [\(operation)]" }
    if let underlying { text += " (\(underlying))" }
    return text
  }
}
