import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startVirtualCluster } from '../../../../infra/local/virtualcluster/virtualcluster.ts'

test('authority, address and tokens survive a restart', async () => {
  const now = Date.now()
  const path = join(await mkdtemp(join(tmpdir(), 'keyplane-test-')), 'virtualcluster.json')
  const first = await startVirtualCluster({ path, now: () => now })
  await first.close()
  const second = await startVirtualCluster({ path, now: () => now })
  await second.close()
  expect(second).toMatchObject({ url: first.url, certificateAuthority: first.certificateAuthority, token: first.token })
  const third = await startVirtualCluster({ path, now: () => now + 9.5 * 365 * 86_400_000 })
  await third.close()
  expect(third.certificateAuthority).not.toBe(first.certificateAuthority)
})
