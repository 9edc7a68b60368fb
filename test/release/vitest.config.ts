/** Configures `npm run test:release`, the tests that run the functions of the previous release beside those of this one. */
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import '../support/compilecache.ts'
import { limits } from '../support/patience.ts'

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['test/release/*.release.ts'],
    // Each file has processes of both releases.
    maxWorkers: 2,
    ...limits,
    experimental: { viteModuleRunner: false },
  },
})
