/**
 * Resolves relative imports and modules of Node.js by their text alone, while a test file loads and runs. Otherwise Node.js would
 * look each up in the file system, and vitest would send each to its main process, which needs them to watch files.
 */
import { registerHooks } from 'node:module'
import { afterAll } from 'vitest'

/** Of a module of this project, or of a bundle. Packages leave out endings, too. */
const relative = /^\.\.?\/.*\.(ts|mjs)$/

const hooks = registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL = '' } = context
    if (specifier.startsWith('node:')) return { url: specifier, format: 'builtin', shortCircuit: true }
    if (!relative.test(specifier) || !parentURL.startsWith('file:')) return nextResolve(specifier, context)
    return { url: new URL(specifier, parentURL).href, shortCircuit: true }
  },
})
afterAll(() => hooks.deregister())
