/** Creates or updates the objects of the demo through the API. */
import { asSentence } from '../../../clients/core/src/answers.ts'
import { StartupError } from '../host/startuperror.ts'
import type { ApiClient } from './apiclient.ts'

export interface Wanted {
  kind: string
  name: string
  /** Derives the spec from the existing one, if any. */
  spec(current: object): object
}

interface Answered {
  metadata: { uid: string }
  spec?: object
}

export interface Ensured {
  uid: string
  /** Whether it did not exist. */
  isNew: boolean
}

/** Creates the object, or updates it if it exists. Throws a StartupError, or ENOSPC if the server has no room. */
export async function ensureObject(
  client: ApiClient,
  collection: string,
  { kind, name, spec }: Wanted,
): Promise<Ensured> {
  const made = { apiVersion: 'management.platform/v1', kind, metadata: { name }, spec: spec({}) }
  const created = await client.send('POST', collection, made)
  if (created.status === 201) return { uid: uidOf(created.body), isNew: true }
  const url = `${collection}/${name}`
  const read = await client.send('GET', url)
  if (created.status !== 409 || read.status !== 200) throw failed(kind, name, created.body)
  const current = read.body as Answered
  const updated = await client.send('PUT', url, { ...current, spec: spec(current.spec ?? {}) })
  if (updated.status !== 200) throw failed(kind, name, updated.body)
  return { uid: uidOf(updated.body), isNew: false }
}

const uidOf = (body: unknown): string => (body as Answered).metadata.uid

function failed(kind: string, name: string, body: unknown): Error {
  const { code, message } = (body ?? {}) as { code?: number; message?: string }
  const sentence = asSentence(`The ${kind} ${name} of the demo cannot be created: ${message}`)
  // As the file system says it, so that the caller names the folder.
  return code === 507
    ? Object.assign(new Error(sentence), { code: 'ENOSPC', syscall: 'write' })
    : new StartupError(sentence)
}
