// Linked into tests; nothing in it is called by name. See SwiftMutex.c.
#pragma once
