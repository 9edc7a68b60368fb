/** Reads the signals of leaks that a test server has written today. */
import { readSignal, type Signal, signalPartition } from '../../lib/keys/credential/signals.ts'
import type { TestServer } from './server.ts'

/** Returns the signals of leaks of the key with this uid. */
export async function leakSignals({ parts }: Pick<TestServer, 'parts'>, uid: string): Promise<Signal[]> {
  const { items } = await parts.storage.queryCompanions(signalPartition(Math.floor(Date.now() / 1000)))
  return items.map(({ attributes }) => readSignal(attributes)).filter((one) => one.kind === 'leaked' && one.uid === uid)
}
