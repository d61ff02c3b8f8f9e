import MediaCore

/// A connection's bytes to requests: the line decoder and the parser together. What the server calls.
public struct RequestReader: Sendable {
  /// What comes next on a connection.
  public enum Incoming: Sendable, Hashable {
    case request(Request)
    /// Answer this error, in its turn.
    case rejected(Rejection)
    /// Run these in order and answer them together, with a `BatchReply`.
    case batch(RequestBatch)
    /// Close, and say why in this form: nothing sensible will come any more. The line has been answered already.
    case close(MediaError, form: WireForm)
  }

  private var decoder: LineDecoder
  private var parser: RequestParser
  private let limits: WireLimits
  private var overlongForm = WireForm.words

  /// A reader at the start of a connection.
  public init(limits: WireLimits = .standard) {
    self.limits = limits
    decoder = LineDecoder(limits: limits)
    parser = RequestParser(limits: limits)
  }

  /// Bytes held for a line whose end has not come; bounded by the line limit. Dropped, never run, when the stream ends.
  public var pendingByteCount: Int { decoder.pendingByteCount }

  /// The next request of `chunk` from `offset` on, or nil when all of it has been taken; moves `offset` behind what was taken.
  ///
  /// The caller may stop asking at any time and offer the rest (`chunk[offset...]`) again later. Blank lines are skipped.
  public mutating func next(in chunk: Span<UInt8>, at offset: inout Int) -> Incoming? {
    while let piece = decoder.next(in: chunk, at: &offset) {
      let line: ParsedLine
      switch piece {
      case .line(let range): line = parser.parse(chunk.extracting(range))
      case .assembledLine:
        let assembled = decoder.assembled
        line = parser.parse(assembled.span)
        decoder.letGo()
      case .tooLong:
        let beginning = decoder.assembled
        let rejection = parser.rejectionOfOverlongLine(beginning: beginning.span)
        overlongForm = rejection.address.form
        return .rejected(rejection)
      case .closeConnection:
        return .close(
          MediaError(.lineTooLong, "\(limits.unterminatedByteCount) bytes without a line end"), form: overlongForm)
      }
      switch line {
      case .blank: continue
      case .request(let request): return .request(request)
      case .rejected(let rejection): return .rejected(rejection)
      case .batch(let members): return .batch(members)
      }
    }
    return nil
  }

  /// `next(in:at:)` for memory that is valid during the call, such as what a socket was read into.
  public mutating func next(in chunk: UnsafeRawBufferPointer, at offset: inout Int) -> Incoming? {
    next(in: Span(_unsafeBytes: chunk), at: &offset)
  }
}
