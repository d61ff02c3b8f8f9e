/// Carries an object through libpulse's `void *userdata`.
///
/// The main loop owns the box, and keeps it until its thread has ended: a callback always receives a valid box. The box
/// does not retain the object: a callback that runs after the object's end finds nil.
///
/// Threading: under the loop's lock.
final class CallbackBox<Target: AnyObject> {
  private weak var target: Target?

  /// Creates a box; `PulseMainloop.userdata(for:)` keeps it.
  init(_ target: Target) { self.target = target }

  /// The pointer for libpulse.
  var userdata: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Returns the object of a callback's `userdata`; nil after the object's end.
  static func target(_ userdata: UnsafeMutableRawPointer?) -> Target? {
    userdata.flatMap { Unmanaged<CallbackBox>.fromOpaque($0).takeUnretainedValue().target }
  }
}
