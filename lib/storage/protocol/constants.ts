/** The figures of the protocol, and where they come from. Durations in milliseconds unless they say otherwise. */

/** How long a reader leaves a gap to its writer: three times a slow write. Too short and slow writers start again, never wrong. */
export const patience = 500
/** One commit's time: how soon to look again for a slot or a row that must come. */
export const gapPoll = 20
/** A transaction is never sent later than this after its revision was taken; far below `logSeconds`. */
export const writerDeadline = 10_000
/** Life of log slots: how far back watches and continue tokens reach. */
export const logSeconds = 24 * 3600
/** Life of tombstones: longer than every continue token and open slot. */
export const tombstoneSeconds = 48 * 3600
/** Over this age of `at` slots above `settled` might have expired. At most a quarter of `logSeconds`, so that clocks may be hours off. */
export const stale = 6 * 3600 * 1000
/** Every so many revisions a writer settles, when that many are unsettled, up to that many ahead (one BatchGetItem). */
export const settleEvery = 16
export const settleBehind = 64
export const settleAhead = 100
/** When a write gives up. */
export const maxTries = 60
export const maxWriteTime = 5_000
/** The slots that one poll of a watch reads at most; a watch that is further behind polls again at once. */
export const pollSlots = 512
/** The revisions that a list goes back at most. Beyond, 410, as after a compaction: the client lists anew. */
export const rewindSlots = 10_000
/**
 * A page of a list ends with the object that reaches so many bytes, as they lie in the table, whether a selector matches it or
 * not: some 6,000 access keys of the usual size, or 40 of the largest that do not deflate. So a page of which nothing matches
 * takes eight queries, some 2,000 read units.
 */
export const pageBytes = 8 * 1024 * 1024
/** What a selector has looked at stays decoded until it is answered when it has at most so many bytes: twice the work is then saved. */
export const keptBytes = 16 * 1024
/**
 * A page reads so many rows beyond its limit, to tell how many objects follow where the list ends with them. They are a hint for
 * short lists: to count what follows in a long one would cost more than the page.
 */
export const countedRows = 16
/**
 * The items that one query asks for at most: of objects of 1 KB DynamoDB takes as many for its megabyte anyway. The embedded one
 * reads all that follow before it ends a page at a megabyte, so that without this a list of everything costs their square.
 */
export const queryItems = 1000
