/// The first line of every connection, always in the text form.
package enum Greeting {
  /// The version of the protocol that this module implements.
  package static let protocolVersion = 1

  /// Appends `* hello playhead protocol=1 version=0.1.0 instance=9f86d081884c7d65` with its LF.
  package static func encode(version: String, instance: String, into buffer: inout [UInt8]) {
    buffer.append(contentsOf: "* hello playhead protocol=".utf8)
    buffer.append(decimal: Int64(protocolVersion))
    buffer.append(contentsOf: " version=".utf8)
    WordsText.append(version, to: &buffer)
    buffer.append(contentsOf: " instance=".utf8)
    WordsText.append(instance, to: &buffer)
    buffer.append(UInt8(ascii: "\n"))
  }
}
