import CPlayheadMediaShims
import Glibc

/// A thread of this process, with a name that debuggers and `top -H` show. Blocking work runs on such threads, never in
/// a task.
package final class NamedThread: @unchecked Sendable {
  // `@unchecked Sendable`: `handle` is written once, in `init`, and joined once, by the owner.
  private var handle = pthread_t()

  private final class ThreadContext {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts `body` on a new thread. `name` is truncated to 15 bytes, Linux's limit (pthread_setname_np(3)).
  package init(name: String, _ body: @escaping @Sendable () -> Void) {
    var shortName = name
    while shortName.utf8.count > 15 { shortName.removeLast() }
    let context = Unmanaged.passRetained(ThreadContext(name: shortName, body: body))
    let status = pthread_create(
      &handle, nil,
      { pointer in
        guard let pointer else { return nil }
        let context = Unmanaged<ThreadContext>.fromOpaque(pointer).takeRetainedValue()
        media_shims_set_thread_name(context.name)
        context.body()
        return nil
      }, context.toOpaque())
    precondition(status == 0, "pthread_create failed: out of threads or memory")
  }

  /// Starts `body` on a thread that is never joined.
  package static func detached(name: String, _ body: @escaping @Sendable () -> Void) {
    pthread_detach(NamedThread(name: name, body).handle)
  }

  /// Blocks until the body has returned. Call it once, and not from the thread itself.
  package func join() { pthread_join(handle, nil) }
}
