/** Ends a rotation: either its old value now, or its new value that nobody uses yet. */

import type { Session } from '../api/session.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { lookAt, requestRotation } from './server.ts'
import { forget } from './unfinished.ts'

export interface Ending {
  io: Io
  session: Session
  name: string
  file: string
}

/** Ends the old value of a key, unless the new one waits for its first use. Returns what to tell the user. */
export async function finishRotation(ending: Ending): Promise<string> {
  const { name } = ending
  const { pending, retiring, resourceVersion } = await demandKey(ending)
  if (pending) {
    throw new CliError(`The new value of access key "${name}" was never used, so the old one must not end yet.`, {
      hint: `Use the new value once: it becomes current. Or end the new value, if nobody has it: keyplane rotate ${name} --abort`,
    })
  }
  if (!retiring) return `Access key "${name}" has no old value.`
  await end(ending, resourceVersion)
  return `The old value of access key "${name}" has ended.`
}

/** Ends a new value that was never used. Returns what to tell the user. */
export async function abortRotation(ending: Ending): Promise<string> {
  const { name, file } = ending
  const { pending, resourceVersion } = await demandKey(ending)
  if (pending) await end(ending, resourceVersion)
  await forget(file)
  return pending
    ? `The new value of access key "${name}" has ended. The current one stays.`
    : `Access key "${name}" has no new value that waits for its first use.`
}

async function demandKey({ session, name }: Ending) {
  const shown = await lookAt(session, name)
  if (shown !== undefined) return shown
  throw new CliError(`There is no access key "${name}" that you may see.`, { exitCode: 4 })
}

/** The precondition holds the key in the state that was judged. */
async function end({ io, session, name }: Ending, resourceVersion: string | undefined): Promise<void> {
  const precondition = resourceVersion === undefined ? undefined : { resourceVersion }
  await requestRotation(io, session, name, { finish: true }, { precondition })
}
