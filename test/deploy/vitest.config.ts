import { defineConfig } from 'vitest/config'
import '../support/compilecache.ts'
import { limits } from '../support/patience.ts'

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/deploy/*.deploy.ts'],
    // All tests deploy the same packaged files.
    fileParallelism: false,
    ...limits,
  },
})
