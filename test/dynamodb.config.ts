/**
 * Configures `npm run test:dynamodb`: the driver of the deployed functions, over an emulator of DynamoDB: tests of its own, and
 * those of `npm test` that hold for both drivers.
 */
import { defineConfig } from 'vitest/config'
import './support/compilecache.ts'

process.env.TEST_DRIVER = 'dynamodb'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.dynamodb.ts', 'test/lib/storage/{items,contract,faults}.test.ts'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    experimental: { viteModuleRunner: false },
  },
})
