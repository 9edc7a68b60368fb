/** Lets the processes of tests, and those that these start, share what V8 has compiled. */
process.env.NODE_COMPILE_CACHE ??= new URL('../../node_modules/.compile-cache', import.meta.url).pathname
