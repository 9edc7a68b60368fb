/**
 * Notices that the `npm start` of this process is gone. A SIGTERM to npm ends npm and its shell, and does not reach the server. A server that
 * was started without npm outlives the program that started it: that is the way to have one in the background.
 */

/** What is asked of the machine. */
export interface Parent {
  env: NodeJS.ProcessEnv
  /** The process ID of the parent now. Systems give orphans another parent, but Windows does not. */
  id(): number
  /** Reports whether a process lives. */
  lives(id: number): boolean
}

const TURN_MILLISECONDS = 500

/** Resolves when npm, or the shell that it has started this process with, has ended. Never resolves without npm. */
export function npmGone({ env, id, lives }: Parent = ofThisProcess): Promise<void> {
  return new Promise((resolve) => {
    if (env.npm_lifecycle_event !== 'start') return
    const first = id()
    const timer = setInterval(() => {
      if (id() === first && lives(first)) return
      clearInterval(timer)
      resolve()
    }, TURN_MILLISECONDS)
    timer.unref()
  })
}

const ofThisProcess: Parent = {
  env: process.env,
  id: () => process.ppid,
  lives(id) {
    try {
      process.kill(id, 0)
      return true
    } catch (error) {
      // A process of another user lives, too.
      return (error as NodeJS.ErrnoException).code === 'EPERM'
    }
  },
}
