import MediaCore

/// Inputs that are alternatives to each other, such as languages: one of them is played. Only the default one's track is enabled (MP4
/// and its kin), or marked as the default (Matroska); MP4 and MOV have tracks of sound in one alternate group.
public final class AssetWriterInputGroup: Sendable {
  /// The alternatives: of one media type.
  public let inputs: [AssetWriterInput]
  /// The one to play unless someone chooses.
  public let defaultInput: AssetWriterInput

  /// Alternatives.
  ///
  /// - Parameter defaultInput: nil: the first.
  /// Errors: `invalidArgument` for fewer than two inputs, for one twice, for different media, and a default that is none of them.
  public init(inputs: [AssetWriterInput], defaultInput: AssetWriterInput? = nil) throws(MediaError) {
    guard let first = inputs.first, inputs.count >= 2, Set(inputs.map(ObjectIdentifier.init)).count == inputs.count,
      inputs.allSatisfy({ $0.sourceFormat.mediaType == first.sourceFormat.mediaType })
    else {
      throw MediaError(.invalidArgument, "alternatives are two inputs or more, of one media type", operation: "init")
    }
    guard defaultInput.map({ chosen in inputs.contains { $0 === chosen } }) ?? true else {
      throw MediaError(.invalidArgument, "the default is one of the alternatives", operation: "init")
    }
    (self.inputs, self.defaultInput) = (inputs, defaultInput ?? first)
  }
}
