/** Defines a rotation that is asked for, and finds out what its key is to the session. */
import { type Session, sessionOf } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import type { Io } from '../io/io.ts'
import { useKey } from './server.ts'
import { readUnfinished } from './unfinished.ts'

export interface Rotation {
  io: Io
  name: string
  session: Session
  /** The private file of the new value. */
  file: string
  overlapSeconds: number
  /** Whether a pending value of another run ends. */
  replace: boolean
  /** The command that stores the value. Absent: the value is printed, unless the context gets it. */
  command: readonly string[] | undefined
  timeoutSeconds: number
}

export interface Run extends Rotation {
  /** Whether the key is that of the session. */
  isOwn: boolean
  /** Whether the key is that of the context, which gets the new value too. */
  isContexts: boolean
  /** Whether the session presents the value of the key that is stored, as a job does that was given it. */
  hasStoredValue: boolean
  /** The value that the contexts have. */
  oldValue: string
}

/**
 * Returns the run of a rotation. If the value of the session has ended because a killed run got as far as the use of the new
 * one, the session presents that one.
 */
export async function openRun(rotation: Rotation): Promise<Run> {
  const { io, session, name, file } = rotation
  const oldValue = await session.key()
  const runOf = (own: Session, owner: string): Run => ({
    ...rotation,
    session: own,
    isOwn: owner === name,
    isContexts: owner === name && session.context !== undefined,
    hasStoredValue: owner === name && session.context === undefined && own === session,
    oldValue,
  })
  try {
    return runOf(session, await useKey(session))
  } catch (error) {
    const unfinished = await readUnfinished(io, file)
    if (!(error instanceof StatusError) || error.code !== 401 || unfinished?.requestedAt === undefined) throw error
    const renewed = sessionWith(io, session, unfinished.key)
    const owner = await useKey(renewed).catch(() => {
      throw error
    })
    return runOf(renewed, owner)
  }
}

/** Returns a session of another value with the same server. */
export const sessionWith = (io: Io, { server, certificateAuthority }: Session, key: string): Session =>
  sessionOf(io, {
    server,
    key,
    ...(certificateAuthority !== undefined && {
      certificateAuthorityData: Buffer.from(certificateAuthority).toString('base64'),
    }),
  })

/** Tells what to do after a run that ended before the new value was used. */
export const continuation = (name: string): string =>
  `The old value of access key "${name}" works as before. Repeat the command: it continues with the same new value.`
