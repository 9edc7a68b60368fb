/**
 * Limits that end what hangs. They check nothing: a slow or busy machine may need minutes for what takes a second elsewhere. A test
 * that waits for a condition needs no limit of its own.
 */

/** For `vi.waitFor` and waits in a browser: shorter than that of a test, so that a failure names what it waited for. */
export const patience = { timeout: 120_000 }

/** For the configurations of vitest. */
export const limits = { testTimeout: 1_800_000, hookTimeout: 600_000, expect: { poll: patience } }
