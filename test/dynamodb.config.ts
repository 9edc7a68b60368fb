/**
 * Configures `npm run test:dynamodb`: the functions as they are deployed, with their client of DynamoDB, over an emulator. It has what
 * only they can show, and tests of `npm test` that hold for both drivers of the store: its contract, races, and a recorded scenario for each
 * behaviour of kube-apiserver. The sequences in test/conformance/recorded found mistakes above the drivers, so `npm test` plays them.
 */
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { made } from './vitest.config.ts'
import './support/compilecache.ts'
import { limits } from './support/patience.ts'

const native = { experimental: { viteModuleRunner: false } }

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..'),
    maxWorkers: 2,
    maxConcurrency: 32,
    ...limits,
    projects: [
      {
        extends: true,
        test: {
          ...native,
          name: 'native',
          include: [
            'test/**/*.dynamodb.ts',
            'test/lib/engine/storage/{items,contract,faults,pages}.test.ts',
            'test/conformance/conformance.test.ts',
          ],
          exclude: ['test/functions/**'],
        },
      },
      {
        extends: true,
        resolve: { alias: [made] },
        test: { name: 'functions', include: ['test/functions/**/*.dynamodb.ts'], isolate: false },
      },
    ],
  },
})
