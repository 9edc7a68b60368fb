import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/deploy/*.deploy.ts'],
    // One test deploys twice.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
