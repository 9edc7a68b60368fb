/** Reports leaked access keys to a server. That needs no access key. */
import { objectIn } from '../../../core/src/answers.ts'
import { readConfig } from '../config/contexts.ts'
import { UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { patiently, receivedFrom, sendRepeatedly } from './call.ts'
import { serverUrl } from './serverurl.ts'
import { authorityIn } from './session.ts'
import { errorOf } from './status.ts'

/** A server that is asked without a key. */
export interface KeylessServer {
  /** The URL with its base path, without a slash at the end. */
  server: string
  certificateAuthority: string | undefined
}

export interface ServerChoice {
  server?: string | undefined
  /** A file of certificates in PEM. */
  ca?: string | undefined
  context?: string | undefined
}

/** Returns the server of `--server`, of `--context`, of `KEYPLANE_URL`, or of the current context, in this order. */
export async function findServer(io: Io, { server, ca, context }: ServerChoice): Promise<KeylessServer> {
  const { KEYPLANE_URL, KEYPLANE_CA } = io.env
  const { currentContext, contexts } = await readConfig(io)
  const given = server ?? (context === undefined ? KEYPLANE_URL : undefined)
  if (given) {
    const url = serverUrl(given)
    const known = [...contexts.values()].find((one) => one.server === url)
    const file = ca ?? KEYPLANE_CA
    const data = file ? await authorityIn(file) : known?.certificateAuthorityData
    return { server: url, certificateAuthority: pemOf(data) }
  }
  const found = contexts.get(context ?? currentContext ?? '')
  if (found === undefined) {
    throw new UsageError(
      context === undefined ? 'No server is named.' : `There is no context "${context}".`,
      'Name the server of the keys with --server URL, KEYPLANE_URL, or a context. No access key is needed.',
    )
  }
  const data = ca === undefined ? found.certificateAuthorityData : await authorityIn(ca)
  return { server: serverUrl(found.server), certificateAuthority: pemOf(data) }
}

const pemOf = (data: string | undefined) => (data === undefined ? undefined : Buffer.from(data, 'base64').toString())

/** What a report does. The server tells nobody whose values they were. */
export const AFTER_REPORT =
  'Keys that were valid there have ended, unless the server only records reports. Tokens made with them are refused within 30 seconds.'

/** Reports at most 50 keys, which takes minutes if the server is busy or fails. Throws a CliError unless the server has ended all that are its own. */
export async function reportKeys(
  io: Io,
  target: KeylessServer,
  credentials: readonly string[],
  url: string | undefined,
): Promise<void> {
  const body = { credentials: [...credentials], ...(url !== undefined && { url }) }
  const connection = { ...target, key: undefined }
  const request = { method: 'POST', path: '/leaks', body }
  await patiently(io, async () => {
    const answer = await sendRepeatedly(io, connection, request, { repeatable: true })
    if (answer.code !== 202) throw errorOf(receivedFrom(target.server, answer), objectIn(answer.text))
  })
}
