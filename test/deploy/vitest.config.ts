import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/deploy/*.deploy.ts'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
})
