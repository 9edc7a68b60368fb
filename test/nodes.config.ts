/** Configures `npm run test:nodes`: the packaged programs for users, on every Node.js version that they support. */
import { defineConfig } from 'vitest/config'
import { limits } from './support/patience.ts'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.nodes.ts'],
    maxWorkers: 2,
    ...limits,
    experimental: { viteModuleRunner: false },
  },
})
