import Logging
import PlayheadControlServer
import PlayheadDaemonConfiguration
import PlayheadFileAccess
import PlayheadLibAV
import PlayheadMediaAssets
import PlayheadMediaCore

/// Reloads the configuration, and stores the effective options. Threading: one thread, which may block.
struct ConfigurationReloader {
  let flags: CommandLineFlags
  let sandbox: Sandbox
  let server: ControlServer
  let service: ServiceManager
  /// The effective options.
  private(set) var options: DaemonOptions
  private let logger = Logger(label: "playhead.daemon")

  init(
    flags: CommandLineFlags, options: DaemonOptions, sandbox: Sandbox, server: ControlServer, service: ServiceManager
  ) {
    (self.flags, self.options, self.sandbox) = (flags, options, sandbox)
    (self.server, self.service) = (server, service)
  }

  /// Reloads the configuration file and reports the result to the pending requests.
  mutating func reload(for requests: ReloadRequests) {
    let waiting = requests.removeAll()
    let result = reload()
    for completion in waiting { completion(result) }
  }

  /// Reloads the configuration file and applies reloadable options. An invalid file changes nothing.
  private mutating func reload() -> ReloadResult {
    service.notifyReloading()
    defer { service.notifyReady() }
    do {
      let next = try flags.options()
      let changed = OptionTable.all.filter { $0.value(in: next) != $0.value(in: options) }
      let forbidden = sandbox.plan?.optionsForNextStart(next) ?? []
      let deferred = changed.filter { !$0.isReloadable || forbidden.contains($0.name) }.map(\.name)
      let effective = next.keepingStartupValues(of: options, alsoOf: deferred)
      let roots = try effective.readableRoots()
      let policy = try effective.policy()
      // Uses the more verbose level of both, so that the reload itself is logged.
      DaemonLog.set(min(options.logLevel, next.logLevel))
      defer { DaemonLog.set(next.logLevel) }
      ReadableFiles.roots = roots
      OpeningLimits.byteCount = effective.limits.openingByteCount
      WritableSpace.reservedByteCount = effective.reservedFreeBytes
      Asset.standardTagCharset = effective.tagCharset
      server.apply(policy)
      let applied = changed.map(\.name).filter { !deferred.contains($0) }
      logger.notice("the configuration was reloaded", metadata: ["changed": "\(applied.joined(separator: " "))"])
      for option in changed where deferred.contains(option.name) {
        logger.warning(
          "an option takes effect at the next start",
          metadata: ["option": "\(option.name)", "value": "\(option.value(in: next))"])
      }
      options = effective
      return .success(ReloadOutcome(changed: applied, restart: deferred))
    } catch let invalid as InvalidOptions {
      for line in invalid.lines {
        logger.error("the configuration is invalid, and nothing was changed", metadata: ["error": "\(line)"])
      }
      return .failure(invalid.error)
    } catch {
      logger.error("the configuration is invalid, and nothing was changed", metadata: ["error": "\(error)"])
      return .failure(MediaError(.wrongConfiguration, (error as? MediaError)?.message ?? "\(error)"))
    }
  }
}
