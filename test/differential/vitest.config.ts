import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const assets = process.env.KUBEBUILDER_ASSETS
if (!assets) {
  process.stdout.write(
    'KUBEBUILDER_ASSETS does not name a folder with etcd and kube-apiserver: nothing to compare with.\n',
  )
}

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: assets ? ['test/differential/*.test.ts'] : [],
    passWithNoTests: true,
    testTimeout: 3_600_000,
    hookTimeout: 300_000,
    // The store is in this process, as in the bundles of the local server.
    execArgv: ['--conditions=embedded'],
    experimental: { viteModuleRunner: false },
  },
})
