/** The event lines in a terminal. */
import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { WriteStream } from 'node:tty'
import { afterEach, expect, test, vi } from 'vitest'
import { eventLine } from '../../../infra/local/eventline.ts'
import { generateAccessKey } from '../../../lib/keys/credential/accesskey.ts'

const screen = Object.assign(new PassThrough(), {
  isTTY: true,
  getColorDepth: WriteStream.prototype.getColorDepth,
}) as unknown as NodeJS.WriteStream

afterEach(() => vi.unstubAllEnvs())
const lineOf = (event: object) => {
  vi.stubEnv('NO_COLOR', '1')
  vi.stubEnv('FORCE_COLOR', undefined)
  return eventLine(JSON.stringify(event), screen)
}
const type = (kind: string) => `platform.management.accesskey.${kind}.v1`
const key = generateAccessKey(randomBytes)

test.each<[string, object, string]>([
  [
    'who did it',
    { type: type('created'), data: { name: 'ci', actor: { user: 'admin' } } },
    'event created  ci  by admin\n',
  ],
  [
    'fields',
    { type: type('changed'), data: { name: 'ci', fields: ['spec.ttl', 'spec.user'] } },
    'event changed  ci  spec.ttl, spec.user\n',
  ],
  ['how it ended', { type: type('revoked'), data: { name: 'ci', how: 'Deleted' } }, 'event revoked  ci  Deleted\n'],
  ['when it ends', { type: type('expiring'), data: { name: 'ci', days: 7 } }, 'event expiring  ci  in 7 days\n'],
  ['from where', { type: type('reused'), data: { name: 'ci', ip: '192.0.2.1' } }, 'event reused  ci  from 192.0.2.1\n'],
  ['nothing more', { type: type('expired'), data: { name: 'ci' } }, 'event expired  ci\n'],
  [
    'no key',
    { type: type('created'), data: { name: 'ci', actor: { user: key } } },
    'event created  ci  by <redacted>\n',
  ],
  ['no control characters', { type: type('created'), data: { name: 'a\u001b]0;b' } }, 'event created  a\u{FFFD}]0;b\n'],
])('an event has one line with %s', (_, event, line) => expect(lineOf(event)).toBe(line))
