/** Ends a rotation: either its old value now, or its new value that nobody uses yet. */

import type { Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { refusalOf } from './refusal.ts'
import { lookAt, requestRotation, type ShownKey } from './server.ts'
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
  const shown = await demandKey(ending)
  if (shown.pending) {
    throw new CliError(`The new value of access key "${name}" was never used, so the old one must not end yet.`, {
      hint: `Use the new value once: it becomes current. Or end the new value, if no client has it: keyplane rotate ${name} --abort`,
    })
  }
  if (!shown.retiring) return `Access key "${name}" has no old value.`
  await end(ending, shown)
  return `The old value of access key "${name}" has ended.`
}

/** Ends a new value that was never used. Returns what to tell the user. */
export async function abortRotation(ending: Ending): Promise<string> {
  const { name, file } = ending
  const shown = await demandKey(ending)
  if (shown.pending) await end(ending, shown)
  await forget(file)
  return shown.pending
    ? `The new value of access key "${name}" has ended. ${shown.current ? 'The current one stays.' : `The key has no value now. To give it one: keyplane rotate ${name}`}`
    : `Access key "${name}" has no new value that waits for its first use.`
}

async function demandKey({ session, name }: Ending): Promise<ShownKey> {
  const shown = await lookAt(session, name)
  if (shown !== undefined) return shown
  throw new CliError(`There is no access key "${name}" that you may see.`, { exitCode: 4 })
}

/**
 * Ends all values of a key but the current one. The precondition holds the key in the state that was judged. So a repetition
 * after a lost answer is a conflict, and the key says whether the request is done.
 */
async function end({ session, name }: Ending, { resourceVersion, current }: ShownKey): Promise<void> {
  const precondition = resourceVersion === undefined ? undefined : { resourceVersion }
  try {
    await requestRotation(session, name, { finish: true }, { precondition })
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 409) throw error
    const now = await lookAt(session, name)
    // A key whose only rotation was ended shows no values.
    const isSame = (now?.current?.made ?? current?.made) === current?.made
    if (!now || now.pending || now.retiring || !isSame) throw refusalOf(error, name, undefined)
  }
}
