/** Starts this API as a server for scenarios. */
import { garbageCollectorHandler } from '../../lib/server/controllers.ts'
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

export interface StartedSubject {
  server: TestServer
  subject: Subject
}

export async function startSubject({ collectsGarbage }: { collectsGarbage: boolean }): Promise<StartedSubject> {
  const server = await startServer({}, { unscheduled: true })
  const { base, certificateAuthority, adminKey } = server
  const subject = { base, certificateAuthority, tokens: { '': adminKey }, additions }
  return { server, subject: collectsGarbage ? { ...subject, settle: collecting() } : subject }
}

/** Returns what runs the garbage collector as its schedule does: for what was written, then for what the collector wrote. */
function collecting(): () => Promise<void> {
  const collect = garbageCollectorHandler()
  const run = async () => {
    for (let runs = 0; runs < 3; runs++) await collect({}, { getRemainingTimeInMillis: () => 300_000 })
  }
  // One at a time, like the function.
  let last = Promise.resolve()
  return () => {
    last = last.then(run)
    return last
  }
}
