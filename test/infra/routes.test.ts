import { expect, test } from 'vitest'
import { functions } from '../../infra/functions.ts'
import { below, open, type Route, routesOf, withTwins } from '../../infra/routes.ts'
import { throttles } from '../../infra/stack/stage.ts'
import { KINDS } from '../../lib/kinds.ts'

const lines = (routes: readonly Route[]) =>
  routes.map(({ method, path, open }) => `${method} ${path}${open ? ' open' : ''}`)

test('HEAD is served wherever GET is, and the status like its object', () =>
  expect(lines(routesOf(KINDS.OwnedAccessKey, 'get'))).toEqual(
    ['', '/status'].flatMap((suffix) =>
      ['GET', 'HEAD'].map(
        (method) => `${method} /kubernetes/management/apis/management.platform/v1/ownedaccesskeys/{name}${suffix}`,
      ),
    ),
  ))

// Some clients drop the path of the server URL. The root serves them with the same function, authorizer and limits.
// threat: authorizer-2
test('paths of a Kubernetes API exist at the root too, with the same authorizer', () => {
  expect(lines(withTwins([...below.get('/apis'), ...open(below.get('/version'))]))).toEqual([
    'GET /kubernetes/management/apis',
    'HEAD /kubernetes/management/apis',
    'GET /kubernetes/management/version open',
    'HEAD /kubernetes/management/version open',
    'GET /apis',
    'GET /version open',
  ])
  expect(withTwins(below.post('/leaks', '/oauth2/token', '/.well-known/a', '/apisx'))).toHaveLength(4)
})

// threat: authorizer-3
test('a limit of a path holds at its twin at the root too', () => {
  const limited = throttles.map(({ method, path, ...limits }) => [`${method} ${path}`, limits] as const)
  const lookups = limited.filter(([route]) => route.endsWith('/accesskeylookups'))
  expect(lookups).toHaveLength(2)
  expect(lookups[0]?.[1]).toEqual(lookups[1]?.[1])
})

test('no two functions have the same route', () => {
  const all = functions.flatMap(({ routes }) => lines(routes))
  expect(all.filter((one, index) => all.indexOf(one) !== index)).toEqual([])
})
