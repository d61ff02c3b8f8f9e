// A C target needs a source file. The function is in the fuzzer's runtime.
