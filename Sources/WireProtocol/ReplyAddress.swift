/// The form in which a request came and its reply and events go.
public enum WireForm: String, Sendable, Hashable, CaseIterable {
  case words
  case json
}

/// What a peer calls its request.
public enum RequestID: Sendable, Hashable {
  /// In words: no `@id`, the reply has no prefix either. In JSON: a notification, which gets no reply.
  case none
  /// The `@id` of the words form, without `@`; 1 to 64 characters of `[A-Za-z0-9._-]`.
  case words(String)
  /// A JSON-RPC id that is a string.
  case jsonString(String)
  /// A JSON-RPC id that is a number, as the text it was written as: it is echoed exactly.
  case jsonNumber(String)
  /// JSON-RPC's `null`: also where an error is answered whose request could not be read.
  case jsonNull
}

/// Where a reply goes: the form and the id of its request. All that has to be kept of a waiting request.
public struct ReplyAddress: Sendable, Hashable {
  public var form: WireForm
  public var id: RequestID

  public init(form: WireForm, id: RequestID) {
    self.form = form
    self.id = id
  }

  /// Words without an id.
  public static let words = ReplyAddress(form: .words, id: .none)

  /// Whether anything is written for a reply; only JSON-RPC notifications get none.
  public var expectsReply: Bool { form == .words || id != .none }

  /// Whether the request carries an id: a waiting one with an id holds up nothing, and the id is taken until the reply.
  /// (JSON-RPC's `null` names nothing, so it does not count.)
  public var hasID: Bool {
    switch id {
    case .none, .jsonNull: false
    case .words, .jsonString, .jsonNumber: true
    }
  }
}
