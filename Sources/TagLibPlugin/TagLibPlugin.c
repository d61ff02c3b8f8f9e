// Nothing of its own: this target says how libPlayheadTags.so is linked (without Swift's runtime, which the C++ of
// TagLibShim does not use), and TagLibShim itself can still be linked into a test or a fuzz target.
#include "include/TagLibPlugin.h"

typedef int playhead_tags_plugin;
