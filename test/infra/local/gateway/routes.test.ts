import { expect, test } from 'vitest'
import { createRouter } from '../../../../infra/local/gateway/routes.ts'

const routeOf = (line: string) => {
  const [method = '', resource = ''] = line.split(' ')
  return { method, resource, functionId: line, streaming: false, timeoutMilliseconds: 1 }
}
const find = createRouter(
  [
    'ANY /',
    'ANY /{proxy+}',
    'GET /keys',
    'POST /keys',
    'GET /keys/{name}',
    'GET /keys/{name}/status',
    'GET /keys/mine',
    'GET /files/{path+}',
    'GET /spaces/{space}/keys',
  ].map(routeOf),
)
const findRouteOf = (line: string) => {
  const [method = '', path = ''] = line.split(' ')
  const match = find(method, path)
  return match && [match.route.functionId, match.pathParameters]
}

test.each([
  ['GET /', 'ANY /', {}],
  ['GET /keys', 'GET /keys', {}],
  ['GET /keys/', 'GET /keys', {}],
  ['POST /keys', 'POST /keys', {}],
  ['GET /keys/ci', 'GET /keys/{name}', { name: 'ci' }],
  ['GET /keys/mine', 'GET /keys/mine', {}],
  // Percent-encoding is kept and compared as is.
  ['GET /keys/a%2Fb%20c', 'GET /keys/{name}', { name: 'a%2Fb%20c' }],
  ['GET /k%65ys', 'ANY /{proxy+}', { proxy: 'k%65ys' }],
  ['GET /keys/__proto__', 'GET /keys/{name}', { name: '__proto__' }],
  // A fixed segment without a match yields to the variable.
  ['GET /keys/mine/status', 'GET /keys/{name}/status', { name: 'mine' }],
  // A missing method falls back to the catch-all.
  ['DELETE /keys/ci', 'ANY /{proxy+}', { proxy: 'keys/ci' }],
  ['GET /keys/ci/other', 'ANY /{proxy+}', { proxy: 'keys/ci/other' }],
  ['GET /files/a/b', 'GET /files/{path+}', { path: 'a/b' }],
  ['GET /files', 'ANY /{proxy+}', { proxy: 'files' }],
  ['GET /nothing/', 'ANY /{proxy+}', { proxy: 'nothing' }],
  // An empty segment does not match a variable.
  ['GET /spaces//keys', 'ANY /{proxy+}', { proxy: 'spaces//keys' }],
])('%s is served by %s', (line, route, parameters) => expect(findRouteOf(line)).toEqual([route, parameters]))

test('returns undefined without a match', () =>
  expect(createRouter([routeOf('GET /keys/{name}')])('POST', '/keys/a')).toBeUndefined())

test('refuses two sibling variables', () =>
  expect(() => createRouter(['GET /{a}', 'GET /{b}/c'].map(routeOf))).toThrow('two sibling variables: a and b'))
