/** Starts this API as a server for scenarios. */
import { startServer, type TestServer } from '../support/server.ts'
import type { Subject } from './player.ts'

/** Members that only this API has, because they are computed or shown once. */
const additions = (code: number): readonly string[] => [
  '/status/owner',
  '/status/phase',
  '/status/expirationTimestamp',
  '/status/canUse',
  '/status/madeWith',
  ...(code === 201 ? ['/spec/key'] : []),
]

/** Longer than any test. */
const never = 86_400

export interface StartedSubject {
  server: TestServer
  subject: Subject
}

export async function startSubject({ collectsGarbage }: { collectsGarbage: boolean }): Promise<StartedSubject> {
  const server = await startServer({}, collectsGarbage ? {} : { streamSeconds: never })
  const { base, certificateAuthority, adminKey } = server
  return { server, subject: { base, certificateAuthority, tokens: { '': adminKey }, additions } }
}
