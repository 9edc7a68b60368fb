import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { divertFunctionLog } from '../../../infra/local/functionlog.ts'

const info = '{"level":"info","message":"audit"}\n'
const error = '{"level":"error","message":"request failed","error":"Error: no table","requestId":"r"}\n'

let path = ''
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'keyplane-test-')), 'log.jsonl')
})

/** Writes the lines, and returns what people see. */
function write(lines: string[], { isShown = false, file = path } = {}): string {
  vi.stubEnv('NO_COLOR', '1')
  vi.stubEnv('FORCE_COLOR', undefined)
  const stream = new PassThrough({ encoding: 'utf8' })
  const screen = stream as unknown as NodeJS.WriteStream
  const log = divertFunctionLog(screen, isShown)
  if (file !== '') log.keepIn(file)
  for (const line of lines) screen.write(line)
  return stream.read() ?? ''
}

describe('lines that functions log', () => {
  test('are in the file, and errors in one line on the screen', async () => {
    expect(write([info, error, 'keyplane serves\n'])).toBe('error request failed  Error: no table\nkeyplane serves\n')
    expect(await readFile(path, 'utf8')).toBe(info + error)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test('are written once a turn of the event loop, or when the process exits', async () => {
    write([info, error])
    expect(readFileSync(path, 'utf8')).toBe('')
    for (const end of process.listeners('exit').slice(-1)) end(0)
    expect(readFileSync(path, 'utf8')).toBe(info + error)
    await setImmediate()
    expect(readFileSync(path, 'utf8')).toBe(info + error)
  })

  test('are also on the screen where they are asked for', async () => {
    expect(write([info, error], { isShown: true })).toBe(info + error)
    expect(await readFile(path, 'utf8')).toBe(info + error)
  })

  test('are in no file without one', () => expect(write([info], { file: '' })).toBe(''))

  test('follow those of the last start, unless that file is large', async () => {
    await writeFile(path, error)
    write([info])
    expect(await readFile(path, 'utf8')).toBe(error + info)
    await truncate(path, 17 * 1024 * 1024)
    write([info])
    expect(await readFile(path, 'utf8')).toBe(info)
    expect((await stat(path.replace('.jsonl', '.1.jsonl'))).size).toBe(17 * 1024 * 1024)
  })

  test('need a file that can be written', () =>
    expect(() => write([], { file: tmpdir() })).toThrow('cannot be used, because it is a folder'))

  test.skipIf(!existsSync('/dev/full'))('are missing while the disk is full, and nothing fails', () =>
    expect(write([info, 'served\n'], { file: '/dev/full' })).toBe('served\n'),
  )
})
