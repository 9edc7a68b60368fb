/**
 * Says how long random tests run. `npm test` plays a tenth of their runs, and `npm run test:soak` all of them, with every file that
 * imports this module, or with `TENTHS=N` so many tenths. `SEED=N` chooses the seed of both. Failures name it.
 */

/** True in `npm run test:soak`, which leaves out what takes long and would be the same as in `npm test`. */
export const soak = process.env.SOAK === '1'

/** The first seed of random tests. */
export const seed = Number(process.env.SEED ?? 1)

const tenths = soak ? Number(process.env.TENTHS ?? 10) : 1

/** Returns how many of `all` runs this command plays. */
export function played(all: number): number {
  return Math.ceil((all * tenths) / 10)
}

/** Returns the parameters of a property of fast-check with `all` runs. fast-check prints the seed of a failure. */
export function runs(all: number): { seed: number; numRuns: number } {
  return { seed, numRuns: played(all) }
}
