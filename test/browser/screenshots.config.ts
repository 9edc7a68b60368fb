/** Configures `npm run screenshots`, which takes the pictures of docs/console while it checks the views. */
import { defineConfig } from 'vitest/config'
import browser from './vitest.config.ts'

export default defineConfig({
  test: { ...browser.test, include: ['test/browser/views.spec.ts'], env: { SCREENSHOTS: '1' } },
})
