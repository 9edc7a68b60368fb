/** Tests where API Gateway serves an API, against events and answers recorded on AWS: gist.github.com/GREsau/444c7d4d0bb9e8c82dd1a585931028bd */
import { afterEach, describe, expect, test } from 'vitest'
import type { RequestEvent } from '../../../../infra/local/gateway/events.ts'
import type { Address } from '../../../../infra/local/gateway/routes.ts'
import { type Started, serve as start } from '../deployment.ts'
import cases from './vectors/addresses.cases.json' with { type: 'json' }

const open: Started[] = []
afterEach(async () => {
  for (const started of open.splice(0)) await started.close(0.05)
})

/** Serves a function that returns its event and that of the authorizer, as JSON. */
async function serve(address?: Address) {
  const policyDocument = `{ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: event.methodArn }] }`
  const started = await start(
    {
      authorizer: {
        source: `export const handler = async (event) => {
          globalThis.authorized = event
          return { principalId: 'a', policyDocument: ${policyDocument} }
        }`,
      },
      one: {
        source: `export const handler = async (event) => ({ body: JSON.stringify([event, globalThis.authorized]) })`,
        routes: ['ANY /', 'ANY /{proxy+}'],
      },
    },
    {
      responses: { DEFAULT_4XX: { responseTemplates: { 'application/json': '{"customized":true}' } } },
      ...(address && { address }),
    },
  )
  open.push(started)
  return { started, origin: new URL(started.url).origin }
}

const at = async (url: string) =>
  (await (await fetch(url)).json()) as [RequestEvent, RequestEvent & { methodArn: string }]

describe('the event', () => {
  test.each(cases.paths as { what: string; address?: Address; sent: string; path: string; stage: string }[])(
    '$what has the paths that AWS sends',
    async ({ address, sent, path, stage }) => {
      const { origin } = await serve(address)
      for (const event of await at(`${origin}${sent}?a=b`))
        expect(event).toMatchObject({
          resource: '/{proxy+}',
          path,
          pathParameters: { proxy: 'foo/bar' },
          requestContext: { path: sent, resourcePath: '/{proxy+}', stage },
        })
    },
  )

  test.each(cases.roots as [string, Address][])('of %s is that of the root resource', async (path, address) => {
    const { origin } = await serve(address)
    const [event] = await at(origin + path)
    expect(event).toMatchObject({ resource: '/', pathParameters: null, requestContext: { path } })
  })

  test('of the authorizer names the stage in its ARN, and never a base path', async () => {
    const arns = []
    for (const [address, path] of [
      [{ stage: 'prod' }, '/prod/a/b'],
      [{ mapping: 'echo' }, '/echo/a/b'],
    ] as const) {
      const { origin } = await serve(address)
      arns.push((await at(origin + path))[1].methodArn)
    }
    const arn = 'arn:aws:execute-api:eu-central-1:000000000000:local'
    expect(arns).toEqual([`${arn}/prod/GET/a/b`, `${arn}/dev/GET/a/b`])
  })
})

describe('a path outside', () => {
  // threat: local-4
  test.each(cases.forbidden as [string, Address][])(
    '%s of %j is 403 Forbidden from the gateway itself',
    async (path, address) => {
      const { origin, started } = await serve(address)
      Reflect.deleteProperty(globalThis, 'authorized')
      const response = await fetch(origin + path, { method: 'POST', body: 'x', headers: { authorization: 'Bearer a' } })
      expect([response.status, await response.text()]).toEqual([403, '{"message":"Forbidden"}'])
      expect(response.headers.get('x-amzn-errortype')).toBe('ForbiddenException')
      expect(response.headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/)
      expect(globalThis).not.toHaveProperty('authorized')
      expect(started.reports).toEqual([])
    },
  )
})

test('the address of the gateway contains the stage or the base path', async () => {
  const urls = await Promise.all([serve({ stage: 'prod' }), serve({ mapping: 'echo' }), serve()])
  expect(urls.map(({ started, origin }) => started.url.slice(origin.length))).toEqual(['/prod', '/echo', ''])
})
