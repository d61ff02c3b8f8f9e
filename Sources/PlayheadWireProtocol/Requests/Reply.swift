import PlayheadMediaCore

/// The one final reply to a request, with its rows.
///
/// - Text form: `[@id] | k=v ...` for each row, then `[@id] ok k=v ...` or `[@id] error code=2004 name=no-such-item
///   message="..."`.
/// - JSON form: a `result` object with the same fields (and `rows`, an array of objects), or an `error` object.
package struct Reply: Sendable, Hashable {
  /// The result of the request.
  package enum Outcome: Sendable, Hashable {
    case ok(Fields)
    case error(WireError)
  }

  /// The rows. Nil for commands without rows, empty for an empty list.
  package var rows: [Fields]?
  package var outcome: Outcome

  package init(rows: [Fields]? = nil, outcome: Outcome) {
    self.rows = rows
    self.outcome = outcome
  }

  /// `ok` without fields.
  package static let ok = Reply(outcome: .ok([:]))
  /// `ok` with fields and optional rows.
  package static func ok(_ fields: Fields, rows: [Fields]? = nil) -> Reply { Reply(rows: rows, outcome: .ok(fields)) }
  /// An error reply.
  package static func error(_ error: MediaError) -> Reply { Reply(outcome: .error(WireError(error))) }

  /// The reply completed for a command. An error names the command. The success of a command with rows has at least an
  /// empty list of rows.
  package func completed(for command: CommandSpec) -> Reply {
    switch outcome {
    case .error(let error): Reply(rows: rows, outcome: .error(error.replying(to: command.name)))
    case .ok: rows == nil && command.rowFields != nil ? Reply(rows: [], outcome: outcome) : self
    }
  }

  /// Appends the encoded reply with its LF. Appends nothing for a JSON-RPC notification.
  package func encode(to address: ReplyAddress, into buffer: inout [UInt8]) {
    switch address.form {
    case .words: encodeWords(address.id, into: &buffer)
    case .json:
      guard address.expectsReply else { return }
      encodeJSONObject(address.id, into: &buffer)
      buffer.append(UInt8(ascii: "\n"))
    }
  }

  /// Appends `[@id] ok` with its LF. This avoids creating a `Reply` for the most common reply.
  package static func encodeOK(to address: ReplyAddress, into buffer: inout [UInt8]) {
    guard address.form == .words else { return Reply.ok.encode(to: address, into: &buffer) }
    appendPrefix(address.id, to: &buffer)
    buffer.append(contentsOf: "ok\n".utf8)
  }

  private static func appendPrefix(_ id: RequestID, to buffer: inout [UInt8]) {
    guard case .words(let id) = id else { return }
    buffer.append(UInt8(ascii: "@"))
    buffer.append(contentsOf: id.utf8)
    buffer.append(UInt8(ascii: " "))
  }

  private func encodeWords(_ id: RequestID, into buffer: inout [UInt8]) {
    if let rows {
      for row in rows {
        Self.appendPrefix(id, to: &buffer)
        buffer.append(UInt8(ascii: "|"))
        row.appendWords(to: &buffer)
        buffer.append(UInt8(ascii: "\n"))
      }
    }
    Self.appendPrefix(id, to: &buffer)
    switch outcome {
    case .ok(let fields):
      buffer.append(contentsOf: "ok".utf8)
      fields.appendWords(to: &buffer)
    case .error(let error):
      buffer.append(contentsOf: "error".utf8)
      error.fields.appendWords(to: &buffer)
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  /// Appends the JSON-RPC response object without an LF.
  func encodeJSONObject(_ id: RequestID, into buffer: inout [UInt8]) {
    buffer.append(contentsOf: "{\"jsonrpc\":\"2.0\",\"id\":".utf8)
    switch id {
    case .none, .jsonNull: buffer.append(contentsOf: "null".utf8)
    case .words(let text), .jsonString(let text): JSONText.append(text, to: &buffer)
    case .jsonNumber(let token): buffer.append(contentsOf: token.utf8)
    }
    switch outcome {
    case .ok(let fields):
      buffer.append(contentsOf: ",\"result\":{".utf8)
      fields.appendJSONMembers(to: &buffer)
      if let rows {
        buffer.append(contentsOf: (fields.isEmpty ? "\"rows\":[" : ",\"rows\":[").utf8)
        for (index, row) in rows.enumerated() {
          buffer.append(contentsOf: (index == 0 ? "{" : ",{").utf8)
          row.appendJSONMembers(to: &buffer)
          buffer.append(UInt8(ascii: "}"))
        }
        buffer.append(UInt8(ascii: "]"))
      }
      buffer.append(contentsOf: "}}".utf8)
    case .error(let error):
      buffer.append(contentsOf: ",\"error\":".utf8)
      error.appendJSON(to: &buffer)
      buffer.append(UInt8(ascii: "}"))
    }
  }
}

/// Collects the replies to a JSON-RPC batch. They are written together after the last reply.
package struct BatchReply: Sendable {
  private var buffer: [UInt8] = []

  /// The number of members without a reply.
  package private(set) var outstandingCount: Int

  /// The number of bytes of the collected replies.
  package var byteCount: Int { buffer.count }

  /// Creates a collector for a batch with this number of members, including notifications.
  package init(memberCount: Int) { outstandingCount = memberCount }

  /// Adds the reply of one member, in any order. Returns true for the last reply.
  package mutating func add(_ reply: Reply, for address: ReplyAddress) -> Bool {
    outstandingCount -= 1
    if address.expectsReply {
      buffer.append(UInt8(ascii: buffer.isEmpty ? "[" : ","))
      reply.encodeJSONObject(address.id, into: &buffer)
    }
    return outstandingCount <= 0
  }

  /// Appends the array of replies with its LF. Appends nothing if every member was a notification.
  package func encode(into output: inout [UInt8]) {
    guard !buffer.isEmpty else { return }
    output.append(contentsOf: buffer)
    output.append(contentsOf: "]\n".utf8)
  }
}
