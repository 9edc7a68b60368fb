import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { expect, test } from 'vitest'

const program = `
  import { surviveFullDisk } from ${JSON.stringify(new URL('../../../../infra/local/host/output.ts', import.meta.url).href)}
  surviveFullDisk(() => false)
  process.stdout.write('a line')
  await new Promise(setImmediate)
  process.stdout.write('another line')
  await new Promise(setImmediate)
  process.exitCode = 7
`

test.skipIf(process.platform !== 'linux')('output to a full disk does not end the process', () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)
  expect([status, stderr]).toEqual([7, ''])
})
