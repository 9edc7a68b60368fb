/** Reads from the environment which schedules to play: `SEED=1 SCHEDULES=200000 npx vitest …`. */
import process from 'node:process'

/** The first seed. */
export const seed = Number(process.env.SEED ?? 1)

/** Returns how many schedules to play, by default `count`. */
export const scheduleCount = (count: number): number => Number(process.env.SCHEDULES ?? count)
