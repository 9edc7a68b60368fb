import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import packageFile from '../package.json' with { type: 'json' }
import { restrictEnvironment } from './support/environment.ts'
import { limits } from './support/patience.ts'

/**
 * Tests of packages without state of their process: they run in threads and keep the modules that other files loaded. A folder that
 * no list names costs a process for each of its files.
 */
const pure = [
  'test/*.test.ts',
  'test/clients/*.test.ts',
  'test/clients/action/{bundle,inputs}.test.ts',
  'test/clients/cli/config/*.test.ts',
  'test/clients/console/**/*.test.ts',
  'test/clients/core/!(https|lock|sessions).test.ts',
  'test/lib/**/*.test.ts',
]

/** Tests that restore what they change in their process, so they run in processes that keep the modules of other files. */
const shared = [
  // After the others, a shared server would know a demo virtual cluster that is gone, or a time ahead of its own.
  'test/clients/cli/!(credential|kubeconfig|rotate.interrupted|token).test.ts',
  'test/clients/cli/credentials/*.test.ts',
  'test/clients/core/https.test.ts',
  'test/clients/gitlab/*.test.ts',
  'test/conformance/*.test.ts',
  'test/infra/*.test.ts',
  'test/infra/local/**/*.test.ts',
  'test/kinds/**/*.test.ts',
  'test/lib/engine/{controllers,storage}/**/*.test.ts',
  'test/server/**/*.test.ts',
]
/** Functions read the environment at import, so their tests share no process with others. */
const functions = ['test/functions/**/*.test.ts', 'test/server/deadline.test.ts', 'test/server/maker.test.ts']

/** Projects in the order in which they start; the last one has the shortest files. */
const order = ['whole', 'shared', 'functions', 'pure']

/** Small files with long tests. Vitest orders files by size when it has not yet recorded their durations. */
const long = ['/test/conformance/', '/test/clients/gitlab/', '/test/server/hidden']

/** Starts long files first, so that no core is idle at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isShort = ({ moduleId }: TestSpecification) => !long.some((part) => moduleId.includes(part))
    return sorted.sort(
      (a, b) =>
        order.indexOf(a.project.name) - order.indexOf(b.project.name) || Number(isShort(a)) - Number(isShort(b)),
    )
  }
}

/** The modules that infra/build.ts makes for functions. */
export const made = { find: /^keyplane:(.*)/, replacement: join(import.meta.dirname, '../infra/made/$1.ts') }
/** With the condition, Vite would load modules of packages that Node.js cannot. */
const drivers = Object.entries(packageFile.imports).map(([find, { embedded }]) => ({
  find,
  replacement: join(import.meta.dirname, '..', embedded),
}))

/** Selects the store in this process, as the bundles of the local server do. */
const embedded = ['--conditions=embedded']

/**
 * Loads modules with Node.js, which strips their types. Vite would transform each one, and the loader of vitest look for mocks. Only
 * `vitest` without `run`, which watches files, needs to know what imports what.
 */
const native = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  setupFiles: process.argv.includes('run') ? ['test/support/imports.ts'] : [],
}
restrictEnvironment()
// With a compile cache, coverage would be imprecise. Processes that the tests start use the cache too.
if (!process.argv.some((argument) => argument.startsWith('--coverage'))) {
  await import('./support/compilecache.ts')
}

export default defineConfig({
  test: {
    // The tests wait for a quarter of their time: one worker more than there are cores keeps all cores busy.
    maxWorkers: availableParallelism() + 1,
    root: join(import.meta.dirname, '..'),
    execArgv: embedded,
    ...limits,
    // The maximum for concurrent tests: recorded scenarios, which mostly wait. Of more, one could exceed its 20 seconds on a busy machine.
    maxConcurrency: 8,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: { ...native, name: 'pure', include: pure, exclude: shared, pool: 'threads', isolate: false },
      },
      { extends: true, test: { ...native, name: 'shared', include: shared, exclude: functions, isolate: false } },
      // Node.js cannot reset modules, and a process for each file would cost more than Vite.
      {
        extends: true,
        resolve: { alias: [made, ...drivers] },
        test: { name: 'functions', include: functions, isolate: false },
      },
      {
        extends: true,
        test: {
          ...native,
          name: 'whole',
          include: ['test/**/*.test.ts'],
          // The differential tests need a kube-apiserver, and have their own configuration.
          exclude: [...pure, ...shared, ...functions, 'test/differential/**'],
        },
      },
    ],
  },
})
