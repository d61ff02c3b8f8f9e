// Linked into tests, which call none of it by name. See SwiftMutex.c.
#pragma once
