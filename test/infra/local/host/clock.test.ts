import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkClock } from '../../../../infra/local/host/clock.ts'
import { startLocalServer } from '../../../../infra/local/localserver.ts'

test('a clock that is behind is named before anything is made with it', async () => {
  const dataDir = join(await mkdtemp(join(tmpdir(), 'keyplane-')), 'data')
  const screen = { say() {}, keepLog() {}, answered() {}, published() {} }
  await expect(
    startLocalServer(
      { port: 0, dataDir, memory: false, parameters: {} },
      () => 0,
      screen,
      new AbortController().signal,
    ),
  ).rejects.toThrow(
    'The clock of this machine is behind: it says 1970-01-01T00:00:00Z, and keyplane is younger. Set the clock, on which certificates and tokens depend.',
  )
  expect(existsSync(dataDir)).toBe(false)
})

test('a clock that may be right is not refused', () => expect(() => checkClock(Date.now())).not.toThrow())
