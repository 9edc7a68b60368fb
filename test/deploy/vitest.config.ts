import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import '../support/compilecache.ts'
import { limits } from '../support/patience.ts'

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['test/deploy/*.deploy.ts'],
    // All tests deploy the same packaged files.
    fileParallelism: false,
    ...limits,
  },
})
