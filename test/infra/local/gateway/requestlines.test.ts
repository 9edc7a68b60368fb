/** The request lines in a terminal. */
import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { WriteStream } from 'node:tty'
import { afterEach, expect, test, vi } from 'vitest'
import { type Answered, requestLine } from '../../../../infra/local/gateway/requestlines.ts'
import { generateAccessKey } from '../../../../lib/keys/credential/accesskey.ts'
import { encodeUser } from '../../../../lib/keys/requests/encodeuser.ts'

const authorizer = encodeUser({
  name: 'alice',
  groups: ['system:authenticated'],
  key: { name: 'ci-x7k2p', uid: 'u', type: 'User' },
  chain: [],
})
const key = generateAccessKey(randomBytes)
const answered: Answered = { method: 'GET', path: '/apis', status: 200, milliseconds: 3.6, authorizer }

function terminal() {
  const { getColorDepth } = WriteStream.prototype
  const screen = Object.assign(new PassThrough({ encoding: 'utf8' }), {
    isTTY: true,
    getColorDepth,
  }) as unknown as NodeJS.WriteStream
  return { screen, shown: () => (screen as unknown as PassThrough).read() ?? '' }
}

afterEach(() => vi.unstubAllEnvs())
const withoutColours = () => {
  vi.stubEnv('NO_COLOR', '1')
  vi.stubEnv('FORCE_COLOR', undefined)
}
const plain = (given: Partial<Answered>) => {
  withoutColours()
  return requestLine({ ...answered, ...given }, terminal().screen)
}

// threat: people-4
test.each<[string, Partial<Answered>, string]>([
  ['whose key it was', {}, '200 GET    /apis  4 ms  alice (ci-x7k2p)\n'],
  ['no user where there is none', { authorizer: undefined, status: 401 }, '401 GET    /apis  4 ms\n'],
  ['no user that does not decode', { authorizer: { user: 'wrong' } }, '200 GET    /apis  4 ms\n'],
  ['a client that has left', { status: 0 }, 'left GET    /apis  4 ms  alice (ci-x7k2p)\n'],
  ['no key in a path', { path: `/apis/${key}/x` }, '200 GET    /apis/<redacted>/x  4 ms  alice (ci-x7k2p)\n'],
])('a line shows %s', (_, given, line) => expect(plain(given)).toBe(line))

test.each([
  [200, 32],
  [404, 33],
  [500, 31],
])('colours %i in a terminal', (status, colour) => {
  vi.stubEnv('NO_COLOR', undefined)
  vi.stubEnv('FORCE_COLOR', undefined)
  vi.stubEnv('NODE_DISABLE_COLORS', undefined)
  vi.stubEnv('CI', undefined)
  vi.stubEnv('TERM', 'xterm-256color')
  expect(requestLine({ ...answered, status }, terminal().screen)).toContain(`\u001b[${colour}m${status}\u001b[39m GET`)
})
