/// The identity of this software.
package enum ProductVersion {
  /// The version that HTTP requests send to servers and that `--version` prints.
  package static let text = "0.1.0"
}
