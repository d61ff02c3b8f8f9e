import PlayheadMediaCore
import PlayheadWireProtocol

/// `info` and `tags` with one line for each file: an object of JSON, or a template with tags.
struct InspectLines {
  private let client: JSONClient

  init(_ connection: consuming DaemonConnection, encode: @escaping ([[UInt8]]) throws -> [UInt8]) {
    client = JSONClient(connection, encode: encode)
  }

  /// Prints a line for each file, or an error on standard error for a file that cannot be read. Returns the exit
  /// status. `opening` returns the words of the request that opens a file.
  func run(_ options: Invocation.InspectOptions, _ opening: ([UInt8], Invocation.InspectOptions) -> [[UInt8]]) throws
    -> Int32
  {
    var status = ExitStatus.done
    for file in options.files {
      do {
        let description = try describe(file, options, opening)
        if let template = options.template {
          Terminal.print(template.line { Self.value($0, in: description) })
        } else {
          var line: [UInt8] = []
          description.append(to: &line)
          Terminal.print(line + [UInt8(ascii: "\n")])
        }
      } catch {
        guard let reply = error as? ErrorReply ?? (error as? MediaError).map({ ErrorReply(error: $0) }) else {
          throw error
        }
        let failure = Failure(reply)
        failure.printDiagnostic(isJSON: options.template == nil)
        status = failure.status
        if status == .unreachable { break }
      }
    }
    return status.rawValue
  }

  /// A value of a template: the file, or a tag with this key.
  private static func value(_ name: String, in description: JSONValue) -> JSONValue {
    guard name != "file" else { return description["file"] ?? .null }
    guard case .array(let tags)? = description["tags"] else { return .null }
    let key = name.hasPrefix(ValueNames.tagPrefix) ? String(name.dropFirst(ValueNames.tagPrefix.count)) : name
    return TagValues.value(of: key, in: tags)
  }

  private func describe(
    _ file: [UInt8], _ options: Invocation.InspectOptions,
    _ opening: ([UInt8], Invocation.InspectOptions) -> [[UInt8]]
  ) throws -> JSONValue {
    guard case .number(let id)? = try client.request(opening(file, options))["asset"] else {
      throw Unreachable(message: "the daemon's reply has no asset id")
    }
    defer { _ = try? client.request(["asset.close", id]) }
    let name = StandardInput.isStandardInput(file) ? StandardInput.name : String(decoding: file, as: UTF8.self)
    var members = [JSONValue.Member("file", .string(name))]
    if !options.tagsOnly {
      let values = try JSONClient.rows(
        client.request(["asset.load", id, "duration", "providesPreciseDuration", "playable"]))
      for value in values {
        if case .string(let key)? = value["key"], let value = value["value"] { members.append(.init(key, value)) }
      }
      members.append(.init("tracks", .array(try JSONClient.rows(client.request(["asset.tracks", id])))))
      members.append(.init("chapters", .array(try client.allRows(["asset.chapters", id]))))
    }
    members.append(.init("tags", .array(try client.allRows(["asset.metadata", id]))))
    return .object(members)
  }
}
