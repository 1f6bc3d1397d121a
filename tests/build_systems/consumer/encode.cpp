static_assert(__cplusplus >= 201703L, "the target asks for C++17");
#include "encode.c"
