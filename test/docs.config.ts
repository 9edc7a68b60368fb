/** Configures `npm run test:docs`: the commands and snippets of the README and of the pages below `docs/`, run as they are written. */
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import './support/compilecache.ts'
import { restrictEnvironment } from './support/environment.ts'
import { limits } from './support/patience.ts'

restrictEnvironment()

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..'),
    include: ['test/**/*.docs.ts'],
    maxWorkers: 2,
    ...limits,
    // The store is in this process, as in the bundles of the local server.
    execArgv: ['--conditions=embedded'],
    experimental: { viteModuleRunner: false },
  },
})
