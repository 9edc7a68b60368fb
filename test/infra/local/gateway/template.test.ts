import { expect, test } from 'vitest'
import { readTemplate } from '../../../../infra/local/gateway/template.ts'
import { templateOf } from '../deployment.ts'
import cases from './vectors/template.cases.json' with { type: 'json' }

const references = { refs: { Api: 'local', Table: 'objects', 'Table.Arn': 'arn:table' }, region: 'r', account: '1' }
const source = ''
const read = (functions: Parameters<typeof templateOf>[0]) => readTemplate(templateOf(functions), references)
const environmentOf = (environment: Record<string, unknown>) =>
  read({ one: { source, environment } }).functions.get('one')?.environment

test('reads functions, routes and schedules', () => {
  const deployment = read({
    authorizer: { source },
    one: { source, routes: ['GET /a/{name}', 'GET /'], timeout: 28 },
    list: { source, routes: ['GET /a'], public: true, streaming: true, integrationTimeout: 295000 },
    sweep: { source, schedule: 'rate(2 hours)' },
    collector: { source, readsStream: true },
  })
  expect(deployment.api).toEqual({
    id: 'local',
    stage: 'dev',
    methodThrottles: new Map(),
    region: 'r',
    account: '1',
    binaryMediaTypes: ['application/octet-stream'],
    minimumCompressionSize: 1000,
  })
  expect(deployment.functions.get('one')).toEqual({
    id: 'one',
    name: 'test-one',
    module: 'functions/one',
    entry: 'handler',
    timeoutSeconds: 28,
    memoryMegabytes: 512,
    environment: {},
  })
  expect(deployment.routes).toMatchObject([
    {
      method: 'GET',
      resource: '/a/{name}',
      functionId: 'one',
      streaming: false,
      timeoutMilliseconds: 29_000,
      authorizerFunctionId: 'authorizer',
    },
    { method: 'GET', resource: '/', functionId: 'one', authorizerFunctionId: 'authorizer' },
    { method: 'GET', resource: '/a', functionId: 'list', streaming: true, timeoutMilliseconds: 295_000 },
  ])
  expect(deployment.routes[2]).not.toHaveProperty('authorizerFunctionId')
  expect(deployment.schedules).toEqual([{ functionId: 'sweep', name: 'sweepRule', seconds: 7200 }])
  expect(deployment.streams).toEqual([{ functionId: 'collector', name: 'collectorMapping', windowSeconds: 0 }])
})

test.each(cases.resolved as [string | number | object, string][])('%j is %s', (value, text) =>
  expect(environmentOf({ VALUE: value })).toEqual({ VALUE: text }),
)

test.each(cases.unknown as [object, string][])('%j is refused', (value, message) =>
  expect(() => environmentOf({ VALUE: value })).toThrow(message),
)

test('ignores given variables in the template', () => {
  const template = templateOf({ one: { source, environment: { VALUE: { Ref: 'Unknown' }, OTHER: 'own' } } })
  const { functions } = readTemplate(template, { ...references, environment: { VALUE: 'given' } })
  expect(functions.get('one')?.environment).toEqual({ VALUE: 'given', OTHER: 'own' })
})

test.each(['cron(0 * * * ? *)', 'rate(1 month)'])('the schedule %s is refused', (schedule) => {
  expect(() => read({ sweep: { source, schedule } })).toThrow(schedule)
})

test('refuses an authorizer with result caching', () => {
  const template = templateOf({ authorizer: { source } }).replace(
    '"authorizerResultTtlInSeconds":0',
    '"authorizerResultTtlInSeconds":5',
  )
  expect(() => readTemplate(template, references)).toThrow('must not be cached')
})

test.each(cases.changed as [string, string, string][])('refuses %s changed to %s', (text, other, message) => {
  const template = templateOf({ authorizer: { source }, one: { source, routes: ['GET /a'] } })
  expect(template).toContain(text)
  expect(() => readTemplate(template.replace(text, other), references)).toThrow(message)
})

test('finds the function of an alias', () => {
  const template = templateOf({ one: { source, routes: ['ANY /a'], public: true } })
  const { routes } = readTemplate(template.replace('test-one/', 'test-one:live/'), references)
  expect(routes).toMatchObject([{ method: 'ANY', functionId: 'one' }])
})

test('reads the throttling of all methods from the stage', () => {
  const all = { HttpMethod: '*', ResourcePath: '/*', ThrottlingRateLimit: '50', ThrottlingBurstLimit: 100 }
  const throttleOf = (MethodSettings: object[]) =>
    readTemplate(templateOf({ one: { source } }, {}, { MethodSettings }), references).api.throttle
  expect(throttleOf([{ ...all, ResourcePath: '/a', ThrottlingRateLimit: 1 }, all])).toEqual({ rate: 50, burst: 100 })
  expect(throttleOf([{ HttpMethod: '*', ResourcePath: '/*' }])).toBeUndefined()
  const post = { HttpMethod: 'POST', ResourcePath: '/~1a~1b', ThrottlingRateLimit: 5, ThrottlingBurstLimit: '6' }
  const { api } = readTemplate(templateOf({ one: { source } }, {}, { MethodSettings: [post, all] }), references)
  expect(api.methodThrottles).toEqual(new Map([['POST /a/b', { rate: 5, burst: 6 }]]))
})
