/** Configures `npm run test:nodes`: the packaged programs for users, on every Node.js version that they support. */
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { limits } from './support/patience.ts'

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..'),
    include: ['test/**/*.nodes.ts'],
    maxWorkers: 2,
    ...limits,
    experimental: { viteModuleRunner: false },
  },
})
