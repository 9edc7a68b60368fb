/**
 * Commits the writes that wait in one turn of the event loop together, because most of the cost of a commit is its fsync. A whole
 * commit runs in one turn, so no read sees a write that is not committed.
 */
import type { DatabaseSync } from 'node:sqlite'

/** Runs a write, and resolves with its result once it is on the disk. Rejects with its error, if it throws. */
export type Commit = <T>(write: () => T) => Promise<T>

interface Waiting {
  write(): unknown
  answer: PromiseWithResolvers<unknown>
}

export function groupCommits(database: DatabaseSync): Commit {
  const statement = (sql: string) => database.prepare(sql)
  const [begin, commit, rollback] = ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'].map(statement)
  const [save, release, undo] = ['SAVEPOINT write', 'RELEASE write', 'ROLLBACK TO write'].map(statement)
  let waiting: Waiting[] = []

  /** Runs one write, which leaves nothing behind if it throws. Returns what answers it. */
  function attempt({ write, answer }: Waiting): () => void {
    save?.run()
    try {
      const result = write()
      release?.run()
      return () => answer.resolve(result)
    } catch (error) {
      // Some errors, such as a full disk, have ended the whole transaction.
      if (!database.isTransaction) throw error
      undo?.run()
      release?.run()
      return () => answer.reject(error)
    }
  }

  function commitAll(): void {
    const all = waiting
    waiting = []
    let answers: (() => void)[]
    try {
      begin?.run()
      answers = all.map(attempt)
      commit?.run()
    } catch (error) {
      if (database.isOpen && database.isTransaction) rollback?.run()
      answers = all.map(
        ({ answer }) =>
          () =>
            answer.reject(error),
      )
    }
    for (const answer of answers) answer()
  }

  return <T>(write: () => T) => {
    const answer = Promise.withResolvers<unknown>()
    if (waiting.push({ write, answer }) === 1) setImmediate(commitAll)
    return answer.promise as Promise<T>
  }
}
