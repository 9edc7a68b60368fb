/**
 * Makes the key with which a cluster sends its reviews. Its value is in a file before the server hears of it, so that a command that is
 * repeated after any failure goes on with the same one.
 */
import { randomBytes } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { encodeKey, keysIn } from '../../../../lib/engine/meta/value/credentialformat.ts'
import { mayBeMade } from '../../../core/src/answers.ts'
import { makeFile, removeFile } from '../../../core/src/files/privatefiles.ts'
import type { AccessKey } from '../../../core/src/objects.ts'
import { NetworkError } from '../api/https.ts'
import { asKey, keyPath } from '../api/keys.ts'
import type { Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { fillNewFile } from '../config/outputfile.ts'
import { readIfThere, unwritable } from '../config/privatefile.ts'
import { CliError, UsageError } from '../io/errors.ts'
import { ownerOf } from '../rotation/server.ts'
import { demandRegular } from './ownfiles.ts'

export interface ClusterKey {
  name: string
  spec: JsonObject
  /** The path of the file with its value. */
  file: string
  /** Returns the contents of the file for a value. */
  text(value: string): Promise<string>
}

/** How the key stands: it is as it should be, or `missing` says what is not. */
export type KeyStanding = { missing?: string; made?: true }

/** Makes the key unless it is there. With `dryRun`, only says how it stands. */
export async function makeClusterKey(session: Session, key: ClusterKey, dryRun: boolean): Promise<KeyStanding> {
  const { name, file } = key
  const kept = await keptValue(file)
  const found = await session.get(keyPath(name)).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.code !== 404) throw error
  })
  if (found !== undefined) return standingOf(session, key, asKey(found), kept)
  const value = kept ?? encodeKey(randomBytes(32))
  // Whoever may not give the right gets a key without it, which would be of no use.
  const planned = asKey(await create(session, key, value, true))
  if (!planned.status?.mayReview)
    throw new CliError('You may not make a key with the right to review.', {
      exitCode: 4,
      hint: 'An administrator without a scope may: log in as one, or let one run this command.',
    })
  if (dryRun) return { missing: `${name} does not exist` }
  if (kept === undefined) await keep(key, value)
  await create(session, key, value, false).catch((error: unknown) => {
    throw continuation(error)
  })
  return { made: true }
}

async function standingOf(
  session: Session,
  { name, file }: ClusterKey,
  { status }: AccessKey,
  kept: string | undefined,
): Promise<KeyStanding> {
  const again = `If the cluster does not have it, make a new one: keyplane keys delete ${name}, then repeat this command`
  if (status?.phase !== 'Active') return { missing: `${name} is ${status?.phase?.toLowerCase() ?? 'in no state'}` }
  if (!status.mayReview) return { missing: `${name} has no right to review. ${again}` }
  if (kept === undefined) return { missing: `${name} exists, and ${file} does not. ${again}` }
  const owner = await ownerOf(session, kept)
  return owner === name ? {} : { missing: `${file} has a value that is not that of ${name}. Remove the file. ${again}` }
}

/** Returns the value in the file, or undefined if there is no file. Throws a UsageError for a file that others could have written or read. */
async function keptValue(file: string): Promise<string | undefined> {
  await demandRegular(file)
  const text = await readIfThere(file)
  if (text === undefined) return undefined
  const { uid, mode } = await lstat(file)
  const me = process.getuid?.()
  if (me !== undefined && (uid !== me || (mode & 0o077) !== 0))
    throw new UsageError(`${file} is not a file that only you can read.`, 'Remove it, then repeat the command.')
  const [found] = keysIn(text)
  if (found === undefined)
    throw new UsageError(`${file} has no access key, and is not overwritten.`, 'Remove it, then repeat the command.')
  return found.key
}

async function keep({ file, text }: ClusterKey, value: string): Promise<void> {
  const made = await makeFile(file).catch((error: unknown) => {
    throw unwritable(file, error)
  })
  await fillNewFile(made, await text(value)).catch(async (error: unknown) => {
    await removeFile(made).catch(() => {})
    throw error
  })
}

const create = (session: Session, { name, spec }: ClusterKey, key: string, dryRun: boolean): Promise<JsonObject> =>
  session.post(
    keyPath(),
    {
      apiVersion: 'management.platform/v1',
      kind: 'OwnedAccessKey',
      metadata: { name },
      spec: { ...spec, key },
    },
    { dryRun },
  )

/** Says that a create without an answer may be repeated: the value in the file is the one that it had. */
function continuation(error: unknown): unknown {
  const mayBe = error instanceof NetworkError || (error instanceof StatusError && mayBeMade(error.code))
  if (!mayBe) return error
  const hint = 'It is not known whether the key was made. Repeat the command: it continues with the same value.'
  return new CliError(error.message, { exitCode: error.exitCode, hint, cause: error })
}
