/**
 * Configures `npm run test:soak`: kills, storms of faults, and all runs of the random tests, of which `npm test` plays a tenth.
 * `SEED=N` repeats a run.
 */
import { globSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

process.env.SOAK = '1'
process.env.SEED ??= '1'
process.stdout.write(`SEED=${process.env.SEED}\n`)

const root = new URL('..', import.meta.url).pathname
const random = globSync('test/**/*.test.ts', { cwd: root }).filter((path) =>
  readFileSync(`${root}/${path}`, 'utf8').includes('support/effort.ts'),
)

export default defineConfig({
  test: {
    root,
    include: ['test/**/*.soak.ts', ...random],
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 60_000,
    maxConcurrency: 32,
    // The store is in this process, as in the bundles of the local server.
    execArgv: ['--conditions=embedded'],
    experimental: { viteModuleRunner: false },
  },
})
