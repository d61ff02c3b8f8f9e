// Empty. This target defines how libPlayheadTags.so is linked: without the Swift runtime, which the C++ of TagLibShim
// does not use. Tests and fuzz targets can still link TagLibShim itself.
#include "include/TagLibPlugin.h"

typedef int playhead_tags_plugin;
