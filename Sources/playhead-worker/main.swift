// A process that parses untrusted bytes for playheadd, or for a program with the library Playhead. They start it; users
// do not.
import Glibc
import PlayheadMediaAssets

exit(AssetWorker.run())
