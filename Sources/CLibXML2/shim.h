// libxml2's pulling reader, for `CXML`. No Swift module imports this: libxml2's headers include those of ICU, which
// contradict Foundation's.
#ifndef PLAYHEAD_CLIBXML2_SHIM_H
#define PLAYHEAD_CLIBXML2_SHIM_H

#include <libxml/parser.h>
#include <libxml/xmlreader.h>

#endif
