/** Checks that functions/, the table of functions and events/ agree, so that no part is forgotten. `kinds.test.ts` checks those of kinds. */
import { execFile } from 'node:child_process'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { requests } from '../events/requests.ts'
import { sampleEvent } from '../events/sample.ts'
import { functions } from '../infra/functions.ts'
import type { RequestEvent } from '../infra/local/gateway/events.ts'
import { createRouter } from '../infra/local/gateway/routes.ts'
import { maxBodyBytes } from '../lib/engine/endpoints/negotiation/bodies.ts'
import { requestEntityTooLarge } from '../lib/engine/meta/errors/status.ts'
import { kinds } from '../lib/server/servedkinds.ts'
import { usePackagedTemplate } from './support/packagedtemplate.ts'

const root = join(import.meta.dirname, '..')
const basePath = '/kubernetes/management'

/** Source: "Gateway response types for API Gateway". */
const responseTypes = [
  'ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE BAD_REQUEST_BODY',
  'BAD_REQUEST_PARAMETERS DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN INTEGRATION_FAILURE INTEGRATION_TIMEOUT',
  'INVALID_API_KEY INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED REQUEST_TOO_LARGE',
  'RESOURCE_NOT_FOUND THROTTLED UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED',
].flatMap((names) => names.split(' '))
const RETRY_AFTER = 'gatewayresponse.header.Retry-After'

const packaged = usePackagedTemplate()
const { ofType } = packaged

const moduleOf = (id: string | undefined) =>
  packaged.deployment.functions.get(id ?? '')?.module.replace(/^functions\//, '')

test('every function is deployed under the name of its path', () => {
  const deployed = [...packaged.deployment.functions.values()]
  expect(deployed.map(({ module }) => module).sort()).toEqual(packaged.names.map((name) => `functions/${name}`))
  for (const { module, name } of deployed) {
    const path = module.replace(/^functions\//, '').replaceAll('/', '-')
    const short = path.replace(/^(federatedidentitycredentials)-deletecollection$/, '$1-deleteall')
    expect(name).toBe(`keyplane-dev-${short}`)
    // A stage has at most 13 characters, and the name of a function 64.
    expect(name.replace('-dev-', `-${'x'.repeat(13)}-`).length).toBeLessThanOrEqual(64)
  }
})

test('every function is uploaded under its own key', () => {
  const keys = ofType('AWS::Lambda::Function').map(
    ([, { Properties }]) => (Properties.Code as unknown as { S3Key: string }).S3Key,
  )
  expect(new Set(keys).size).toBe(packaged.names.length)
})

test('every function has an event to try it with: a request if it has routes, otherwise a file', async () => {
  const files = await Array.fromAsync(glob('**/*.json', { cwd: join(root, 'events') }))
  const named = (isRouted: boolean) =>
    functions.filter(({ routes }) => routes.length > 0 === isRouted).map(({ path }) => path)
  expect([...requests.keys()].sort()).toEqual(named(true).sort())
  expect(files.sort()).toEqual(
    named(false)
      .map((path) => `${path}.json`)
      .sort(),
  )
  for (const { path } of functions) expect(sampleEvent(path)).toBeTypeOf('object')
})

test('npm run sample-event prints an event', async () => {
  const print = promisify(execFile)
  const { stdout } = await print(process.execPath, [join(root, 'events/print.ts'), 'ownedaccesskeys/create'])
  expect(JSON.parse(stdout)).toEqual(sampleEvent('ownedaccesskeys/create'))
  await expect(print(process.execPath, [join(root, 'events/print.ts'), 'nothing'])).rejects.toThrow(
    'there is no function nothing',
  )
})

test('the gateway routes the event of a function to it', () => {
  const find = createRouter(packaged.deployment.routes)
  const routed = new Set(packaged.deployment.routes.map(({ functionId }) => moduleOf(functionId)))
  for (const name of packaged.names.filter((one) => routed.has(one))) {
    const event: RequestEvent = sampleEvent(name)
    const match = find(event.httpMethod, event.path)
    expect([name, moduleOf(match?.route.functionId)]).toEqual([name, name])
    expect(event.resource).toBe(match?.route.resource)
    expect(event.pathParameters ?? {}).toEqual(match?.pathParameters)
    expect('authorizer' in event.requestContext).toBe(match?.route.authorizerFunctionId !== undefined)
  }
})

describe('routes', () => {
  // threat: gateway-1
  test('are public only for discovery of the issuer, the token endpoint, reports of leaks, the console, version and health', () => {
    const open = packaged.deployment.routes.filter(({ authorizerFunctionId }) => authorizerFunctionId === undefined)
    const paths = new Set(open.map(({ resource }) => resource.replace(new RegExp(`^${basePath}`), '')))
    const known = [
      `/.well-known/oauth-authorization-server /.well-known/oauth-authorization-server${basePath}`,
      '/.well-known/openid-configuration /console /console/{proxy+}',
      '/healthz /healthz/{check} /leaks /livez /livez/{check} /oauth2/revoke /oauth2/token',
      '/openid/v1/jwks /readyz /readyz/{check} /version',
    ]
    expect([...paths].sort()).toEqual(known.flatMap((names) => names.split(' ')))
    const guards = packaged.deployment.routes.map(({ authorizerFunctionId }) => authorizerFunctionId)
    expect(new Set(guards.filter(Boolean).map(moduleOf))).toEqual(new Set(['authorizer']))
  })

  test('send all unserved paths to one function', () => {
    const catching = packaged.deployment.routes.filter(({ functionId }) => moduleOf(functionId) === 'notfound')
    expect(catching.map(({ method, resource }) => `${method} ${resource}`).sort()).toEqual(['ANY /', 'ANY /{proxy+}'])
  })

  test('serve discovery and an OpenAPI document for every group version', () => {
    const find = createRouter(packaged.deployment.routes)
    for (const path of new Set(kinds.map(({ group, version }) => `/apis/${group}/${version}`))) {
      expect(moduleOf(find('GET', basePath + path)?.route.functionId)).toBe('discovery')
      expect(moduleOf(find('GET', `${basePath}/openapi/v3${path}`)?.route.functionId)).toBe('openapi')
    }
  })

  test('stream lists with the time limit of watches, and end others before the timeout of the gateway', () => {
    for (const { functionId, streaming, timeoutMilliseconds } of packaged.deployment.routes) {
      const { module, timeoutSeconds } = packaged.deployment.functions.get(functionId) ?? {
        module: '',
        timeoutSeconds: 0,
      }
      expect([module, streaming]).toEqual([module, /\/(console|openapi|list)$/.test(module)])
      expect(timeoutSeconds * 1000).toBeLessThan(timeoutMilliseconds)
      if (module.endsWith('/list')) expect(timeoutSeconds).toBeGreaterThan(280)
    }
  })
})

describe('the template', () => {
  test('stays below 500 resources of a stack and 300 paths of an API, as the page says', async () => {
    // Conditions do not matter: CloudFormation counts what is declared.
    const all = Object.keys(packaged.template.Resources).length
    // API Gateway has a path for each segment of a route.
    const paths = new Set(
      packaged.deployment.routes.flatMap(({ resource }) => {
        const segments = resource.split('/').slice(1).filter(Boolean)
        return segments.map((_, index) => segments.slice(0, index + 1).join('/'))
      }),
    )
    const page = (await readFile(join(root, 'docs/deploying.md'), 'utf8')).replaceAll('\n', ' ')
    const [, resources = '', segments = ''] = /fewer than (\d+) resources .* fewer than (\d+) paths/.exec(page) ?? []
    expect([all < Number(resources), paths.size < Number(segments)]).toEqual([true, true])
  })

  // threat: deployment-3
  test('retains resources that cannot be recreated', () => {
    const withPolicy = (policy: string) =>
      Object.entries(packaged.resources)
        .filter(([, { DeletionPolicy }]) => DeletionPolicy === policy)
        .map(([id]) => id)
        .sort()
    // The first two belong to the account. CloudFormation cannot delete the protected table in a rollback.
    expect(withPolicy('Retain')).toEqual(['GatewayAccount', 'GatewayLogRole', 'Table'])
    const versions = ofType('AWS::Lambda::Version').map(([id]) => id)
    expect(withPolicy('RetainExceptOnCreate').filter((id) => !versions.includes(id))).toEqual(['Pepper', 'SigningKey'])
  })

  // threat: deployment-1
  test('contains no value of a secret', () => {
    for (const [, { Properties }] of ofType('AWS::SecretsManager::Secret')) {
      expect(Properties).not.toHaveProperty('SecretString')
      expect(Properties).not.toHaveProperty('GenerateSecretString')
    }
  })

  test('is at most 1 MB without indentation, as it is uploaded: the limit of CloudFormation', () =>
    expect(Buffer.byteLength(JSON.stringify(packaged.template))).toBeLessThan(800_000))

  test('makes a new deployment after every alias that its routes name', () => {
    const [[id, deploymentOfApi] = [], ...others] = ofType('AWS::ApiGateway::Deployment')
    expect(others).toEqual([])
    expect(id).toMatch(/^ApiGatewayDeployment[0-9a-f]{16}$/)
    const { routes } = packaged.deployment
    const named = routes.flatMap(({ functionId, authorizerFunctionId = functionId }) => [
      functionId,
      authorizerFunctionId,
    ])
    const aliases = ofType('AWS::Lambda::Alias').map(([id]) => id)
    const shifted = [...new Set(named)].map((name) => `${name}Alias`).filter((alias) => aliases.includes(alias))
    expect(deploymentOfApi?.DependsOn).toEqual([...shifted, 'Published'].sort())
    expect(deploymentOfApi?.Properties).toEqual({ RestApiId: { Ref: 'Api' } })
  })

  test('rejects too large bodies with the message of the functions', () => {
    const { message } = requestEntityTooLarge(`limit is ${maxBodyBytes}`).status
    const template = packaged.deployment.responses.REQUEST_TOO_LARGE?.responseTemplates?.['application/json'] ?? ''
    expect(JSON.parse(template)).toMatchObject({ message, code: 413 })
  })

  test('replaces every response type of the gateway', () => {
    const all = Object.entries(packaged.deployment.responses)
    expect(all.map(([type]) => type).sort()).toEqual(responseTypes)
    const retried = Object.groupBy(all, ([, { responseParameters = {} }]) => responseParameters[RETRY_AFTER] ?? '')
    const types = (value: string) => retried[value]?.map(([type]) => type).sort()
    const nothingDone = ['AUTHORIZER_CONFIGURATION_ERROR', 'AUTHORIZER_FAILURE', 'QUOTA_EXCEEDED', 'THROTTLED']
    expect(types("'1'")).toEqual(nothingDone)
    // The function may have run, so the authorizer decides by the method.
    expect(types('context.authorizer.retryAfter')).toEqual(['DEFAULT_5XX', 'INTEGRATION_FAILURE'])
    const [one, other] = ['DEFAULT_5XX', 'INTEGRATION_FAILURE'].map((type) => packaged.deployment.responses[type])
    expect(one).toEqual(other)
  })

  // threat: gateway-20, gateway-21, gateway-22, context-6
  test('returns every gateway response as a Status with the ID of the request', () => {
    for (const one of Object.values(packaged.deployment.responses)) {
      const { responseParameters: parameters = {}, responseTemplates: templates = {}, statusCode } = one
      expect(parameters['gatewayresponse.header.Audit-Id']).toBe('context.requestId')
      expect(parameters['gatewayresponse.header.Strict-Transport-Security']).toBe("'max-age=31536000'")
      expect(parameters['gatewayresponse.header.X-Content-Type-Options']).toBe("'nosniff'")
      const text = templates['application/json'] ?? ''
      const status = JSON.parse(text.replace('$context.error.messageString', '"text"'))
      const expected = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: Number(statusCode) }
      expect(status).toMatchObject(expected)
    }
  })
})
