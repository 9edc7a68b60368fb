import { defineConfig } from 'vitest/config'
import '../support/compilecache.ts'

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/deploy/*.deploy.ts'],
    // All tests deploy the same packaged files.
    fileParallelism: false,
    // One test deploys three times.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
