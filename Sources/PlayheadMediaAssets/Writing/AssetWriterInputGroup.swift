import PlayheadMediaCore

/// Inputs whose tracks are alternatives, such as languages: players play one of them.
///
/// Only the track of the default input is enabled (MP4, M4A and MOV) or marked as the default (Matroska). MP4 and MOV
/// store audio tracks in one alternate group.
public final class AssetWriterInputGroup: Sendable {
  /// The alternatives. All have one media type.
  public let inputs: [AssetWriterInput]
  /// The input whose track players choose by default.
  public let defaultInput: AssetWriterInput

  /// Creates a group of alternatives.
  ///
  /// - Parameters:
  ///   - inputs: The tracks, which are alternatives of each other.
  ///   - defaultInput: The default alternative; nil for the first one.
  /// - Throws: `invalidArgument` for fewer than two inputs, a repeated input, different media types, or a default that
  ///   is not in `inputs`.
  public init(inputs: [AssetWriterInput], defaultInput: AssetWriterInput? = nil) throws(MediaError) {
    guard let first = inputs.first, inputs.count >= 2, Set(inputs.map(ObjectIdentifier.init)).count == inputs.count,
      inputs.allSatisfy({ $0.sourceFormat.mediaType == first.sourceFormat.mediaType })
    else {
      throw MediaError(
        .invalidArgument, "a group needs at least two different inputs of the same media type", operation: "init")
    }
    guard defaultInput.map({ chosen in inputs.contains { $0 === chosen } }) ?? true else {
      throw MediaError(.invalidArgument, "the default must be one of the alternatives", operation: "init")
    }
    (self.inputs, self.defaultInput) = (inputs, defaultInput ?? first)
  }
}
