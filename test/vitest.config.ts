import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // The tests wait more than they compute: one worker for each core, where the default leaves one core idle.
    maxWorkers: '100%',
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    // Needs a kube-apiserver, and has its own configuration.
    exclude: ['test/differential/**'],
    testTimeout: 30_000,
    // Of tests that say they may run at the same time: recorded scenarios, which mostly wait.
    maxConcurrency: 32,
  },
})
