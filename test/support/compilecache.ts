/** Lets the processes of tests, and those that these start, share what V8 has compiled. */
import { join } from 'node:path'

process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../node_modules/.compile-cache')
