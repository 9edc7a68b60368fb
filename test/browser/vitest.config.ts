/** Configures `npm run test:browser`, the tests of the console in a real browser. Ends with one sentence if there is none. */
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import '../support/compilecache.ts'
import { limits } from '../support/patience.ts'
import { findBrowser, NO_BROWSER } from './support/chromium.ts'

if (findBrowser(process.env) === undefined) {
  process.stderr.write(`${NO_BROWSER}\n`)
  process.exit(1)
}

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['test/browser/**/*.spec.ts'],
    // Each has a server, and shares a browser with the files that it runs.
    maxWorkers: 2,
    isolate: false,
    ...limits,
    // The store is in this process, as in the bundles of the local server.
    execArgv: ['--conditions=embedded'],
    experimental: { viteModuleRunner: false },
  },
})
