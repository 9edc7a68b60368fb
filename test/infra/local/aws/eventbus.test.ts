import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLocalBus } from '../../../../infra/local/aws/eventbus.ts'

const newPath = async () => join(await mkdtemp(join(tmpdir(), 'keyplane-events-')), 'events.jsonl')
const entry = (detail: string) => ({ source: 'keyplane', detailType: 'created', detail })

test('appends each event as one line of a private file', async () => {
  const path = await newPath()
  await writeFile(path, '{"old":true}\n', { mode: 0o644 })
  const bus = await openLocalBus(path, () => {})
  const calls = ['{"a":1}', '{"text":"a\\nb"}', '{"c":3}'].map((detail) => bus.put([entry(detail)]))
  await Promise.all(calls)
  await bus.close()
  expect(await readFile(path, 'utf8')).toBe('{"old":true}\n{"a":1}\n{"text":"a\\nb"}\n{"c":3}\n')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

/** Puts events of 600 bytes until the first one is refused, and prints how many were shown. */
const filling = `
  import { openLocalBus } from ${JSON.stringify(new URL('../../../../infra/local/aws/eventbus.ts', import.meta.url).href)}
  let shown = 0
  const bus = await openLocalBus(process.argv[1], () => shown++)
  const detail = JSON.stringify({ text: 'x'.repeat(600) })
  for (;;) await bus.put([{ source: 's', detailType: 'd', detail }]).catch((error) => process.exit(process.stdout.write(shown + error.code) ? 0 : 1))
`

test.skipIf(process.platform === 'win32')(
  'an event for which there is no room is refused, and no part of it is kept',
  async () => {
    const path = await newPath()
    const limited = ['-c', 'ulimit -f 4; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', filling, path]
    const printed = execFileSync('sh', limited, { encoding: 'utf8' })
    const lines = (await readFile(path, 'utf8')).split('\n')
    expect(lines.pop()).toBe('')
    expect(lines.map((line) => JSON.parse(line).text.length)).toEqual(lines.map(() => 600))
    expect(printed).toBe(`${lines.length}EFBIG`)
  },
)
