/**
 * Rotates a key so that a run may be killed at any time. It keeps the new value in a private file, makes it pending, stores it,
 * and only then uses it. The old value works until that use, so whoever reads the store has a value that works.
 */
import { randomBytes } from 'node:crypto'
import { encodeKey } from '../../../../lib/engine/meta/value/credentialformat.ts'
import { changeConfig, demandConfig } from '../config/contexts.ts'
import { CliError } from '../io/errors.ts'
import { note } from '../output/messages.ts'
import { demandValue } from './pending.ts'
import { continuation, openRun, type Rotation, type Run } from './run.ts'
import { lookAt, type ShownKey } from './server.ts'
import { storeValue } from './storecommand.ts'
import { forget, readUnfinished, type Unfinished, writeUnfinished } from './unfinished.ts'
import { verify } from './verify.ts'

/** What became of a rotation. */
export interface Rotated {
  /** The new value, if nothing has stored it. It must be printed before `finish` is called. */
  value?: string
  requestedAt: string
  /** What to tell the user. */
  message: string
  /** Forgets the new value. */
  finish(): Promise<void>
}

/** How often a rotation begins again because another one has ended its value. */
const ATTEMPTS = 3

/** Rotates the key, or continues what a killed run began. Throws a CliError if the new value is not stored and used. */
export async function rotate(rotation: Rotation): Promise<Rotated> {
  const { io, name, file } = rotation
  const run = await openRun(rotation)
  // The contexts get the new value later.
  if (run.isContexts) await demandConfig(io)
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const rotated = await advance(run, await unfinishedOf(run))
      if (rotated !== undefined) return rotated
      await forget(file)
    }
  } catch (error) {
    if (io.signal.aborted) note(io, `Interrupted. ${continuation(name)}`)
    throw error
  }
  throw new CliError(`Other runs rotate access key "${name}" at the same time.`, {
    hint: 'The store may have a value that has ended. Let one run at a time rotate the key, and repeat it.',
  })
}

/** Returns the rotation that a killed run left, or a new one with a value that is kept before anybody hears of it. */
async function unfinishedOf({ io, session, name, file, overlapSeconds }: Run): Promise<Unfinished> {
  const left = await readUnfinished(io, file)
  if (left?.requestedAt !== undefined) {
    note(io, `Continuing the rotation of access key "${name}" that began at ${left.begun}.`)
    return left
  }
  const begun = `${io.now().toISOString().slice(0, 19)}Z`
  const key = left?.key ?? encodeKey(randomBytes(32))
  const unfinished = { server: session.server, name, key, begun, overlapSeconds }
  await writeUnfinished(file, unfinished)
  return unfinished
}

/** Takes a rotation to its end. Returns undefined if a new one must begin: its value has ended, or all was done already. */
async function advance(run: Run, left: Unfinished): Promise<Rotated | undefined> {
  const { name, session, file, command, isContexts } = run
  const standing = await demandValue(run, left)
  if (standing.state === 'ended') return undefined
  const { requestedAt = '' } = standing.state === 'pending' ? standing : left
  const unfinished = { ...left, requestedAt }
  const finish = () => forget(file)
  if (standing.state === 'stored') {
    await renewContexts(run, unfinished)
    const message = `The rotation that began at ${left.begun} is complete. The old value ends after its overlap.`
    return standing.isOverlap ? { requestedAt, message, finish } : undefined
  }
  await writeUnfinished(file, unfinished)
  if (!command && !isContexts) {
    const shown = await lookAt(session, name).catch(() => undefined)
    const message = `This is the new value of access key "${name}". ${oldValue(name, shown)}`
    return { value: unfinished.key, requestedAt, message, finish }
  }
  if (command) {
    await store(run, unfinished, command)
    await writeUnfinished(file, { ...unfinished, stored: true })
  }
  await renewContexts(run, unfinished)
  const message = await verify(run, unfinished)
  return message === undefined ? undefined : { requestedAt, message, finish }
}

/** Says what becomes of the old value. A report of a leak has ended that of a key, and disabled the key. */
function oldValue(name: string, shown: ShownKey | undefined): string {
  if (shown?.isDisabled) {
    const old = shown.current ? '' : 'The old one has ended. '
    return `${old}No value works until the key is enabled: keyplane keys enable ${name}`
  }
  return shown && !shown.current ? 'The old one has ended.' : 'The old one works until the new one is used.'
}

async function store({ io, name, timeoutSeconds, oldValue }: Run, { key }: Unfinished, command: readonly string[]) {
  await storeValue(io, command, { value: key, oldValue }, timeoutSeconds).catch((error: unknown) => {
    throw error instanceof CliError ? new CliError(error.message, { hint: continuation(name), cause: error }) : error
  })
}

/** Gives the new value to every context that has the old one. */
async function renewContexts({ io, session: { server }, isContexts, oldValue }: Run, { key }: Unfinished) {
  if (!isContexts || oldValue === key) return
  await changeConfig(io, ({ contexts }) => {
    for (const [name, context] of contexts) {
      if (context.key === oldValue && context.server === server) contexts.set(name, { ...context, key })
    }
  })
}
