/// The identity of this software.
public enum ProductVersion {
  /// The version that HTTP requests send to servers and that `--version` prints.
  public static let text = "0.1.0"
}
