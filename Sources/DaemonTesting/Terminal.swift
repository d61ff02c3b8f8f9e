import Glibc

/// A pseudo-terminal (pty(7)), from which a program reads the text that the test types.
package final class Terminal {
  /// The slave side: the standard input of the program.
  package let keyboard: Int32
  private let master: Int32

  // TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h, which Swift does not import.
  private static let setLock: UInt = 0x4004_5431
  private static let getNumber: UInt = 0x8004_5430

  package init() throws {
    let opened = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var isLocked: Int32 = 0
    var number: Int32 = 0
    guard opened >= 0, ioctl(opened, Self.setLock, &isLocked) == 0, ioctl(opened, Self.getNumber, &number) == 0 else {
      throw Program.Failure(description: "no terminal")
    }
    master = opened
    keyboard = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard keyboard >= 0 else { throw Program.Failure(description: "no terminal at /dev/pts/\(number)") }
  }

  deinit {
    close(keyboard)
    close(master)
  }

  package func type(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard write(master, bytes, bytes.count) == bytes.count else {
      throw Program.Failure(description: "cannot type")
    }
  }

  /// The terminal's flags (termios(3)).
  package var mode: [tcflag_t] {
    var mode = termios()
    return tcgetattr(keyboard, &mode) == 0 ? [mode.c_iflag, mode.c_oflag, mode.c_cflag, mode.c_lflag] : []
  }
}
