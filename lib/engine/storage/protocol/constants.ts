/** The limits and timeouts of the protocol, with their reasons. Durations are in milliseconds unless noted. */

/** How long a reader waits for the writer of a gap: three times a slow write. A shorter time only makes slow writers retry. */
export const patience = 500
/** How often a reader polls for a slot or a row that must appear: the time of one commit. */
export const gapPoll = 20
/** How long after taking its revision a transaction may be sent: far below `logSeconds`. */
export const writerDeadline = 10_000
/** How long log slots live: how far back watches and continue tokens reach. */
export const logSeconds = 24 * 3600
/** How long tombstones live: longer than every continue token and every undecided slot. */
export const tombstoneSeconds = 48 * 3600
/** How long a page of a list may read: a list that reads longer would miss objects whose tombstones leave the rows meanwhile. */
export const scanTime = 30_000
/** How long a sweep waits before it clears what it has marked: longer than any page that began before. */
export const clearAfter = 45_000
/** How long one sweep clears tombstones. The next one continues. */
export const clearTime = 20_000
/** The age of `at` after which slots above `settled` might have expired. A quarter of `logSeconds`, so clocks may be hours off. */
export const stale = 6 * 3600 * 1000
/** Every 16th revision, the writer settles if 64 are unsettled, up to 100 at once (one BatchGetItem). */
export const settleEvery = 16
export const settleBehind = 64
export const settleAhead = 100
/** The attempts and the time after which a write gives up. */
export const maxTries = 60
export const maxWriteTime = 5_000
/** The most slots that one poll of a watch reads. A watch that is further behind polls again at once. */
export const pollSlots = 512
/** The most revisions that a list goes back. Beyond, it fails with 410, as after a compaction, and the client lists again. */
export const rewindSlots = 10_000
/**
 * A page of a list ends with the object that reaches this many stored bytes, whether a selector matches it or not: some
 * 6,000 objects of the usual size, or 40 of the largest ones that do not deflate. A page in which nothing matches takes
 * eight queries, some 2,000 read units.
 */
export const pageBytes = 8 * 1024 * 1024
/** An object of at most this many bytes stays decoded after a selector has read it, so it is not decoded twice. */
export const keptBytes = 16 * 1024
/**
 * How many rows a page reads beyond its limit, to report the number of remaining objects if the list ends there. In a long
 * list, counting them would cost more than the page.
 */
export const countedRows = 16
/** The part of the size limits that is reserved for deleting and disabling objects. */
export const reserveBytes = 8 * 1024
