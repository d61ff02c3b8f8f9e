/// The form of a request, its reply and its events.
package enum WireForm: String, Sendable, Hashable, CaseIterable {
  case words
  case json
}

/// The id that a client gives to a request.
package enum RequestID: Sendable, Hashable {
  /// No id. In the text form the reply has no prefix. In JSON the request is a notification, which gets no reply.
  case none
  /// The `@id` of the text form, without `@`: 1 to 64 characters of `[A-Za-z0-9._-]`.
  case words(String)
  /// A JSON-RPC id that is a string.
  case jsonString(String)
  /// A JSON-RPC id that is a number, as its original text, so that the reply echoes it exactly.
  case jsonNumber(String)
  /// The JSON-RPC id `null`, which is also used for errors of requests that could not be read.
  case jsonNull
}

/// The destination of a reply: the form and the id of its request. A waiting request needs no other data for its reply.
package struct ReplyAddress: Sendable, Hashable {
  package var form: WireForm
  package var id: RequestID

  package init(form: WireForm, id: RequestID) {
    self.form = form
    self.id = id
  }

  /// The text form without an id.
  package static let words = ReplyAddress(form: .words, id: .none)

  /// Whether a reply is written. Only JSON-RPC notifications get none.
  package var expectsReply: Bool { form == .words || id != .none }

  /// Whether the request has an id. A waiting request with an id does not delay others, and its id is in use until the
  /// reply. JSON-RPC's `null` does not count as an id.
  package var hasID: Bool {
    switch id {
    case .none, .jsonNull: false
    case .words, .jsonString, .jsonNumber: true
    }
  }
}
