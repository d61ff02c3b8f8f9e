/// What this software calls itself.
public enum ProductVersion {
  /// The version, as servers are told it and `--version` prints it.
  public static let text = "0.1.0"
}
