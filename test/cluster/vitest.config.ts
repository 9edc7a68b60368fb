/** Configures `npm run test:cluster`, the tests that need a real kube-apiserver from KUBEBUILDER_ASSETS. */
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import '../support/compilecache.ts'
import { limits } from '../support/patience.ts'

const assets = process.env.KUBEBUILDER_ASSETS
if (!assets) {
  process.stdout.write(
    'KUBEBUILDER_ASSETS is not set: no test on a real kube-apiserver is run. It names a folder with etcd, kube-apiserver, kube-controller-manager and kubectl.\n',
  )
}

// Control planes that live for a minute at most have the memory, and collect garbage most of all while they start.
process.env.GOGC ??= '400'

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: assets ? ['test/cluster/**/*.spec.ts'] : [],
    passWithNoTests: true,
    // They mostly wait: for caches of clusters to expire, tokens to end, and control planes to start.
    maxWorkers: 3,
    ...limits,
    // The store is in this process, as in the bundles of the local server.
    execArgv: ['--conditions=embedded'],
    experimental: { viteModuleRunner: false },
  },
})
