/**
 * Configures `npm run test:soak`: kills, storms of faults, and all runs of the random tests, of which `npm test` plays a tenth.
 * `SEED=N` repeats a run, and `TENTHS=N` plays so many tenths of it.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import './support/compilecache.ts'
import { restrictEnvironment } from './support/environment.ts'
import { limits } from './support/patience.ts'

restrictEnvironment()
process.env.SOAK = '1'
process.env.SEED ??= '1'
process.stdout.write(`SEED=${process.env.SEED}\n`)

const root = join(import.meta.dirname, '..')
const random = globSync('test/**/*.test.ts', { cwd: root }).filter((path) =>
  readFileSync(`${root}/${path}`, 'utf8').includes('support/effort.ts'),
)
/** Files that change what others in their process would see: the environment at import, and schedules of faults. */
const alone = (path: string) => /^test\/(functions|clients)\//.test(path)

/** Loads modules with Node.js, which strips their types. Vite would transform each one. */
const native = { experimental: { viteModuleRunner: false } }

export default defineConfig({
  test: {
    root,
    maxWorkers: 2,
    ...limits,
    maxConcurrency: 32,
    // The store is in this process, as in the bundles of the local server.
    execArgv: ['--conditions=embedded'],
    projects: [
      { extends: true, test: { ...native, name: 'alone', include: ['test/**/*.soak.ts', ...random.filter(alone)] } },
      {
        extends: true,
        test: { ...native, name: 'shared', include: random.filter((path) => !alone(path)), isolate: false },
      },
    ],
  },
})
