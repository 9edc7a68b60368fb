import { defineConfig } from 'vitest/config'

/** Tests of pure packages: they share no state, so they run in threads and keep the modules that other files loaded. */
const pure = [
  'apis',
  'authentication',
  'authorization',
  'endpoints',
  'kubeconfig',
  'meta',
  'openapi',
  'registry',
  'token',
].map((name) => `test/lib/${name}/**/*.test.ts`)

export default defineConfig({
  test: {
    // The tests wait more than they compute: one worker for each core, where the default leaves one core idle.
    maxWorkers: '100%',
    root: new URL('..', import.meta.url).pathname,
    testTimeout: 30_000,
    // Of tests that say they may run at the same time: recorded scenarios, which mostly wait.
    maxConcurrency: 32,
    projects: [
      { extends: true, test: { name: 'pure', include: pure, pool: 'threads', isolate: false } },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['test/**/*.test.ts'],
          // The differential tests need a kube-apiserver, and have their own configuration.
          exclude: [...pure, 'test/differential/**'],
        },
      },
    ],
  },
})
