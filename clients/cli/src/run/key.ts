/** Makes the key of a command, and ends it. */
import { randomInt } from 'node:crypto'
import { hostname } from 'node:os'
import { basename } from 'node:path'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { withoutCredentials } from '../../../../lib/engine/meta/value/credentialtext.ts'
import { mayBeMade } from '../../../core/src/answers.ts'
import { documentationUrl } from '../../../core/src/documentation.ts'
import { duration } from '../../../core/src/durations.ts'
import type { Self } from '../../../core/src/objects.ts'
import { SESSION_LABEL } from '../../../core/src/sessions.ts'
import { NetworkError } from '../api/https.ts'
import { asKey, keyPath } from '../api/keys.ts'
import type { Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { hasIdToken } from './environment.ts'
import type { Signals } from './signals.ts'

export interface RunKey {
  name: string
  value: string
  uid: string
  /** When it was made, by the clock of this machine, in Unix milliseconds. */
  made: number
  expirationTimestamp: string | undefined
}

interface Wanted {
  self: Partial<Self>
  scope: JsonObject
  /** Seconds. */
  ttl: number
  command: readonly string[]
}

/** Letters and digits that nobody takes for others, as kube-apiserver generates names with them. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/** How the server writes the name of an identity that is no user. */
const SUBJECT = 'subject:'

/** The name is made here, so that the key can be ended even if the answer with it is lost. */
function nameFor({ user, team }: Partial<Self>): string {
  const who = (user?.name ?? team?.name ?? '').replace(SUBJECT, '').toLowerCase().replace(/@.*/, '')
  const readable = who
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 20)
    .replace(/^-+|-+$/g, '')
  const end = Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  return ['run', readable, end].filter((part) => part !== '').join('-')
}

/** Returns the spec of a key that authenticates whom the key of the caller does, without the groups that the server adds itself. */
function identityOf({ user, team, groups = [] }: Partial<Self>): JsonObject {
  const own = groups.filter((group) => group !== 'system:authenticated' && (user || group !== `team:${team?.name}`))
  const subject = user?.name.startsWith(SUBJECT) ? { subject: user.name.slice(SUBJECT.length) } : undefined
  return {
    ...(subject ?? (user ? { user: user.name } : team && { team: team.name })),
    ...(own.length > 0 && { groups: own }),
  }
}

/**
 * Makes the key with that of the session. Throws a CliError with what to do if the server refuses. A signal gives the request up late: a
 * key that is made after the request to end it would live on.
 */
export async function makeRunKey(
  io: Io,
  session: Session,
  wanted: Wanted,
  { late }: Pick<Signals, 'late'>,
): Promise<RunKey> {
  const { self, scope, ttl, command } = wanted
  const name = nameFor(self)
  const program = withoutCredentials(basename(command[0] ?? ''))
  const object: JsonObject = {
    apiVersion: 'management.platform/v1',
    kind: 'OwnedAccessKey',
    metadata: { name, labels: { [SESSION_LABEL]: 'run' } },
    spec: {
      // Without the arguments, which may be secret.
      displayName: `${program} on ${hostname()}`.slice(0, 100),
      ttl,
      scope,
      ...identityOf(self),
    },
  }
  try {
    const key = asKey(await session.post(keyPath(), object, { signal: late }))
    return {
      name: key.metadata.name,
      value: key.spec.key ?? '',
      uid: key.metadata.uid,
      made: io.now().getTime(),
      expirationTimestamp: key.status?.expirationTimestamp,
    }
  } catch (error) {
    // It may exist. Its name is so random that no other key has it.
    const mayExist = error instanceof NetworkError || (error instanceof StatusError && mayBeMade(error.code))
    if (late.aborted || mayExist) await endRunKey(session, { name }).catch(() => tellUnknown(io, name, ttl))
    throw explained(io, session, error, wanted)
  }
}

const tellUnknown = (io: Io, name: string, ttl: number): void =>
  note(
    io,
    `Whether the key ${name} exists is not known. If it does, it ends by itself in ${duration(ttl)}. To end it now: keyplane keys delete ${name}`,
  )

function explained(io: Io, session: Session, error: unknown, { scope }: Wanted): unknown {
  if (!(error instanceof StatusError)) return error
  const hint =
    error.code === 403 && hasIdToken(io.env)
      ? `This job has an ID token. Exchange it with this scope instead, and no key has to make another: ${documentationUrl(session.server, 'federation')}\nscope=${JSON.stringify(scope)}`
      : error.code === 403 && !/exceeded quota/.test(error.message)
        ? 'The key of the command is made with yours, which must be allowed to make keys.'
        : /spec\.scope: Too long/.test(error.message)
          ? 'A shorter scope has fewer entries.'
          : error.hint
  return new CliError(error.message, { exitCode: error.exitCode, cause: error, ...(hint !== undefined && { hint }) })
}

/** Deletes the key. Somebody may have done so before. */
export async function endRunKey(
  session: Session,
  { name, uid }: { name: string; uid?: string },
  signal = AbortSignal.timeout(END_MILLISECONDS),
): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...(uid !== undefined && { preconditions: { uid } }) }
  await session.delete(keyPath(name), { repeatable: true, signal }, body).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.code !== 404) throw error
  })
}

/** How long ending a key may take: the signal that asked for it may soon be followed by one that nothing survives. */
const END_MILLISECONDS = 10_000
