/** This API as a server that scenarios are played against. */
import { startServer, type TestServer } from '../support/server.ts'
import type { Subject } from './player.ts'

/** Members that this API adds of its own: computed on reads, or shown once. */
const additions = (code: number): readonly string[] => [
  '/status/owner',
  '/status/phase',
  '/status/expirationTimestamp',
  '/status/canUse',
  ...(code === 201 ? ['/spec/key'] : []),
]

/** More than any test lasts. */
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
