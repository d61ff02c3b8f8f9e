import PlayheadMediaCore

/// Converts the bytes of a connection to requests: a line decoder with a parser.
package struct RequestReader: Sendable {
  /// The next element of a connection's input.
  package enum Incoming: Sendable, Hashable {
    case request(Request)
    /// The server replies with this error, in the order of the requests.
    case rejected(Rejection)
    /// The server runs these requests in order and sends their replies together, with a ``BatchReply``.
    indirect case batch(RequestBatch)
    /// The server closes the connection and reports the reason in this form. The line that caused it already has its
    /// error reply.
    case close(MediaError, form: WireForm)
  }

  private var decoder: LineDecoder
  private var parser: RequestParser
  private let limits: WireLimits
  private var overlongForm = WireForm.words

  /// Creates a reader for the start of a connection.
  package init(limits: WireLimits = .standard) {
    self.limits = limits
    decoder = LineDecoder(limits: limits)
    parser = RequestParser(limits: limits)
  }

  /// The number of bytes stored for an incomplete line, at most the line limit. An incomplete line at the end of the
  /// stream is dropped and never runs.
  package var pendingByteCount: Int { decoder.pendingByteCount }

  /// The next request of `chunk` from `offset` on. Nil when the chunk is consumed. Advances `offset` past the request.
  ///
  /// The caller may stop at any time and pass the rest (`chunk[offset...]`) later. Blank lines are skipped.
  package mutating func next(in chunk: Span<UInt8>, at offset: inout Int) -> Incoming? {
    while let part = decoder.next(in: chunk, at: &offset) {
      let line: ParsedLine
      switch part {
      case .line(let range): line = parser.parse(chunk.extracting(range))
      case .assembledLine:
        let assembled = decoder.assembled
        line = parser.parse(assembled.span)
        decoder.releaseMemory()
      case .tooLong:
        let beginning = decoder.assembled
        let rejection = parser.rejectionOfOverlongLine(beginning: beginning.span)
        overlongForm = rejection.address.form
        return .rejected(rejection)
      case .closeConnection:
        return .close(
          MediaError(.lineTooLong, "a line must end within \(limits.unterminatedByteCount) bytes"), form: overlongForm)
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

  /// `next(in:at:)` for memory that is valid during the call, such as the receive buffer of a socket.
  package mutating func next(in chunk: UnsafeRawBufferPointer, at offset: inout Int) -> Incoming? {
    next(in: Span(_unsafeBytes: chunk), at: &offset)
  }
}
