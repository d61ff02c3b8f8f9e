// libxml2's pull reader, for `CPlayheadXML`. No Swift module imports this, because libxml2's headers include those of
// ICU, which conflict with Foundation's.
#ifndef PLAYHEAD_CLIBXML2_SHIM_H
#define PLAYHEAD_CLIBXML2_SHIM_H

#include <libxml/parser.h>
#include <libxml/xmlreader.h>

#endif
