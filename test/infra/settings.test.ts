/** The settings of a deployment: invalid ones are refused before the deploy. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { load } from 'js-yaml'
import { beforeAll, expect, test } from 'vitest'
import { osls } from '../../infra/osls.ts'
import { ensurePackaged } from '../../infra/package.ts'
import { additions } from './everysetting.ts'

const root = join(import.meta.dirname, '../..')
/** Settings without a default. */
const given = {
  stage: 'prod',
  issuer: 'https://tokens.example.com/prod',
  'list-concurrency': 300,
  'leak-concurrency': 3,
  domain: 'keys.example.com',
  'certificate-arn': 'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d',
  'provisioned-concurrency': 2,
  'warm-read-units': 20_000,
  'warm-write-units': 8_000,
  'vpc-subnets': 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
  'vpc-security-groups': 'sg-0123456789abcdef0',
  'console-issuer': 'https://login.company.example/realms/staff',
  'console-client-id': 'keyplane',
  'console-credential': 'staff@5d0a3a55-6d6f-4d0e-8a0f-3f1f6c0d9b11',
  'console-scopes': 'openid email groups',
  'console-origins': 'https://tokens.company.example',
}

let defaults: Record<string, unknown>
let named: string[]
let accepts: ValidateFunction
beforeAll(async () => {
  // Drops the tags of CloudFormation, which the settings do not contain.
  const text = (await readFile(join(root, 'serverless.yml'), 'utf8')).replace(/!\w+ /g, '')
  const { params, custom } = load(text) as {
    params: { default: Record<string, unknown> }
    custom: { settings: Record<string, unknown> }
  }
  defaults = params.default
  named = Object.keys(custom.settings)
  runSettings([])
})

/** Runs the plugin with command-line parameters. */
function runSettings(param: string | string[]): void {
  const Settings = createRequire(import.meta.url)(join(root, 'infra/plugins/settings.cjs'))
  const serverless = {
    classes: { Error },
    configSchemaHandler: {
      defineCustomProperties: ({ properties }: { properties: { settings: object } }) => {
        accepts = new Ajv({ strict: false }).compile(properties.settings)
      },
    },
  }
  new Settings(serverless, { param })
}

test('refuses an unknown setting, which would leave the default in force', () => {
  expect(() => runSettings(['max-key-ttl-seconds=60', 'issuer=https://a.example/b=c'])).not.toThrow()
  expect(() => runSettings('signing-keys=1')).not.toThrow()
  for (const wrong of ['max-key-ttl=60', 'constructor=1', 'stage=prod']) {
    expect(() => runSettings(['throttle-rate=5', wrong])).toThrow(`there is no setting ${wrong.split('=')[0]}`)
  }
})

test('validates every parameter and accepts the defaults', () => {
  expect(named.sort()).toEqual([...Object.keys(defaults), ...Object.keys(given)].sort())
  expect([accepts({ ...defaults, ...given }), accepts.errors]).toEqual([true, null])
  expect(accepts({ ...defaults, stage: 'dev' })).toBe(true)
  expect(accepts({ ...defaults, ...given, another: 1 })).toBe(false)
})

const credential = 'staff@5d0a3a55-6d6f-4d0e-8a0f-3f1f6c0d9b11'
const url = 'https://a.example'
const wrongURLs = ['', 'http://a.example', `${url}?x`]
const flag = [
  ['', 'yes', 1],
  [true, false],
] as const

test.each<[setting: string, refused: readonly unknown[], taken: readonly unknown[]]>([
  ['stage', ['', 'Prod', '1prod', 'my-stage', 'fourteenletter'], ['p', 'prod2']],
  ['issuer', [...wrongURLs, `${url}/`, `${url}#x`, 'https://a b'], [url, `${url}:8443/b/c`]],
  ['max-key-ttl-seconds', [-1, 1.5, 'day', 4_000_000_000], [0, 86_400]],
  ['max-token-ttl-seconds', [0, 599, 'day'], [600]],
  ['max-certificate-ttl-seconds', [-1, 1, 599], [0, 600]],
  ['key-retention-seconds', [-1, 'week'], [0, 604_800]],
  ['federated-key-retention-seconds', [-1, 'day'], [0, 86_400]],
  ['reject-id-tokens-before', [-1, '2026-11-22T12:00:00Z', 1.5], [0, 1_795_348_800]],
  ['max-keys-per-owner', [-1, 1.5, 'many', 100_001], [0, 1000]],
  ['max-exchange-ttl-seconds', [0, 59, 86_401, 'hour'], [60, 43_200]],
  ['exchange-throttle-rate', [0, 10_001, 'fast'], [1, 50]],
  ['exchange-throttle-burst', [0, 5_001], [1, 100]],
  ['allow-private-issuers', ...flag],
  ['on-leak', ['', 'ignore', true], ['disable', 'report']],
  ['leak-keys-url', [...wrongURLs, `${url}/`, `${url}/keys?a=b`, 'https://a b'], [`${url}/meta/public_keys`]],
  ['leak-concurrency', [0, -1, 1.5, 'many', 1001], [1, 10]],
  ['project-namespace-prefix', ['', '-p', 'P-', 'p_', 'p.', `p${'-'.repeat(31)}`], ['p-', 'p']],
  ['space-namespace', ['', '{project}', '{space}-{project}', 'P-{project}-{space}'], ['p-{project}-s-{space}']],
  ['log-retention-days', [0, 2, 31, '30 days'], [1, 365]],
  ['throttle-rate', [0, 10_001, 'fast'], [1, 10_000]],
  ['throttle-burst', [0, 5_001], [1, 5_000]],
  ['max-watch-seconds', [0, 9, 266, 30.5, 'long'], [10, 265]],
  ['quiet-watch-seconds', [-1, 9, 266, 'soon'], [0, 10, 30]],
  ['watches-per-key', [-1, 1.5, 10_001, 'many'], [0, 100]],
  ['compress-streams', ...flag],
  ['record-sources', ...flag],
  ['list-concurrency', [0, -1, 1.5, 'many'], [1, 1000]],
  [
    'console-issuer',
    [...wrongURLs, "https://a;script-src 'unsafe-inline'", 'https://*.a.example', 'https://a@b'],
    [`${url}/`, `${url}:8443/b/c`],
  ],
  ['console-client-id', ['', 'a b', 'ä'], ['0oa1', 'a"<b>&c']],
  [
    'console-credential',
    ['', 'staff', 'staff@1', credential.replace('staff', ''), credential.replace('s', 'S')],
    [credential, credential.replace('staff', 'a.b-c')],
  ],
  ['console-scopes', ['', 'openid  email', 'openid "email"', ' openid'], ['openid', 'openid api://a/b']],
  [
    'console-origins',
    ['', `${url}/`, `${url}, https://b.example`, 'http://a.example', '*', `${url};'self'`],
    [url, `${url}:8443,https://b.example`],
  ],
  [
    'domain',
    ['', 'keys', 'Keys.a.co', 'keys.a.co.', '*.a.co', '-a.a.co', 'https://a.a.co', '127.0.0.1'],
    ['keys.example.com', 'a-1.b.co'],
  ],
  [
    'certificate-arn',
    ['', 'arn:aws:iam::123456789012:server-certificate/a', 'arn:aws:acm:eu-central-1::certificate/a'],
    ['arn:aws-us-gov:acm:us-gov-west-1:123456789012:certificate/0a1b2c3d'],
  ],
  ['provisioned-concurrency', [0, -1, 1.5, 1_001, 'many'], [1, 1_000]],
  ['warm-read-units', [0, 11_999, 40_001, 'many'], [12_000, 40_000]],
  ['warm-write-units', [0, 3_999, 40_001, 'many'], [4_000, 40_000]],
  [
    'vpc-subnets',
    ['', 'subnet-1', 'subnet-01234567,', 'vpc-01234567', 'subnet-01234567 subnet-89abcdef'],
    ['subnet-01234567'],
  ],
  ['vpc-security-groups', ['', 'sg-1', 'default', Array(6).fill('sg-01234567').join()], ['sg-01234567,sg-89abcdef']],
  ['signing-keys', ['', '0', '1,', '1 2', 'a', '1,2,3,4,5', '100'], ['1', '2,1']],
  [
    'event-bus',
    ['', 'a bus', '/keys', 'arn:aws:sns:eu-central-1:123456789012:keys', 'arn:aws:events:eu-central-1::event-bus/keys'],
    ['default', 'none', 'keys/prod', 'arn:aws-us-gov:events:us-gov-west-1:123456789012:event-bus/keys'],
  ],
])('checks the values of %s', (setting, refused, taken) => {
  const judged = (values: readonly unknown[]) =>
    values.filter((value) => accepts({ ...defaults, ...given, [setting]: value }))
  expect([judged(refused), judged(taken)]).toEqual([[], taken])
})

test.each([
  ['domain', 'certificate-arn'],
  ['vpc-subnets', 'vpc-security-groups'],
] as const)('%s and %s require each other', (one, other) => {
  for (const missing of [one, other]) {
    const { [missing]: _, ...rest } = given
    expect([missing, accepts({ ...defaults, ...rest })]).toEqual([missing, false])
    expect(accepts.errors?.[0]?.message).toContain(`must have property ${missing}`)
  }
  const { [one]: _, [other]: __, ...neither } = given
  expect(accepts({ ...defaults, ...neither })).toBe(true)
})

test('the settings for signing in to the console are given together, and the optional ones not alone', () => {
  const { 'console-issuer': _, 'console-client-id': __, 'console-credential': ___, ...without } = given
  const { 'console-scopes': ____, 'console-origins': _____, ...none } = without
  expect(accepts({ ...defaults, ...none })).toBe(true)
  const three = ['console-issuer', 'console-client-id', 'console-credential'] as const
  for (const missing of three) {
    const some = Object.fromEntries(three.filter((name) => name !== missing).map((name) => [name, given[name]]))
    expect([missing, accepts({ ...defaults, ...none, ...some })]).toEqual([missing, false])
  }
  for (const alone of ['console-scopes', 'console-origins'] as const)
    expect([alone, accepts({ ...defaults, ...none, [alone]: given[alone] })]).toEqual([alone, false])
})

test('every parameter is documented with its default', async () => {
  const page = await readFile(join(root, 'docs/deploying.md'), 'utf8')
  const shown = new Map<string, string>()
  for (const [, names = '', values = ''] of page.matchAll(/^\| ((?:`[a-z-]+`(?:, )?)+) \| ([^|]+) \|/gm)) {
    const given = values.split(', ')
    for (const [index, name] of names.split(', ').entries()) shown.set(name.slice(1, -1), given[index] ?? '')
  }
  const documentedDefault = ([name, value]: [string, unknown]) => [
    name,
    shown.get(name)?.replaceAll('`', '').replace(/ = .*/, ''),
    value,
  ]
  for (const [name, text, value] of Object.entries(defaults).map(documentedDefault))
    expect([name, text]).toEqual([name, String(value)])
  expect([...shown.keys()]).toEqual(expect.arrayContaining(named.filter((name) => name !== 'stage')))
})

test('every parameter reaches the place where it takes effect', async () => {
  const params = {
    issuer: 'https://tokens.example.com/prod',
    'max-key-ttl-seconds': 1001,
    'max-token-ttl-seconds': 1002,
    'max-certificate-ttl-seconds': 1003,
    'key-retention-seconds': 1004,
    'federated-key-retention-seconds': 1010,
    'reject-id-tokens-before': 1011,
    'max-keys-per-owner': 1009,
    'project-namespace-prefix': 'q-',
    'space-namespace': 'q-{project}-r-{space}',
    'log-retention-days': 365,
    'throttle-rate': 1005,
    'throttle-burst': 1006,
    'list-concurrency': 1007,
    'watches-per-key': 1008,
    'max-exchange-ttl-seconds': 1010,
    'allow-private-issuers': true,
    'exchange-throttle-rate': 1011,
    'exchange-throttle-burst': 1012,
    'on-leak': 'report',
    'leak-keys-url': 'https://keys.example.com/partners',
    'leak-concurrency': 13,
    'compress-streams': false,
    'record-sources': false,
    'max-watch-seconds': 101,
    'quiet-watch-seconds': 102,
    // test/infra/signingkeys.test.ts
    'signing-keys': '2,1',
    'event-bus': 'keys',
    'console-issuer': 'https://login.company.example',
    'console-client-id': 'keyplane',
    'console-credential': 'staff@5d0a3a55-6d6f-4d0e-8a0f-3f1f6c0d9b11',
    'console-scopes': 'openid groups',
    'console-origins': 'https://tokens.company.example',
  }
  // test/infra/everysetting.test.ts has the others, which add to the template.
  const all = Object.keys({ ...params, ...additions })
  expect(all.sort()).toEqual(named.filter((name) => name !== 'stage').sort())
  const given = ['--stage=prod', ...Object.entries(params).map(([name, value]) => `--param=${name}=${value}`)]
  const { provider, resources, functions, custom } = JSON.parse(await osls('print --format json', given))
  const asVariable = (name: string) => name.toUpperCase().replaceAll('-', '_')
  const ofAll = Object.keys(params).filter(
    (name) => !/^(console|throttle|exchange-|log|list|leak|on-|signing|event)/.test(name),
  )
  expect(provider.environment).toEqual({
    STAGE: 'prod',
    BASE_PATH: '/kubernetes/management',
    API_URL: expect.objectContaining({ 'Fn::Sub': expect.stringContaining('execute-api') }),
    ...Object.fromEntries(ofAll.map((name) => [asVariable(name), String(params[name as keyof typeof params])])),
  })
  const { ApiStage, AccessLog, ExecutionLog } = resources.Resources
  // CloudFormation accepts both.
  const limits = { ThrottlingRateLimit: '1005', ThrottlingBurstLimit: '1006' }
  const ofExchanges = { HttpMethod: 'POST', ThrottlingRateLimit: '1011', ThrottlingBurstLimit: '1012' }
  const ofLeaks = { HttpMethod: 'POST', ThrottlingRateLimit: 5, ThrottlingBurstLimit: 20 }
  const ofConsole = { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 200 }
  const methodSettings = [limits, ofExchanges, ofExchanges, ofLeaks, ofLeaks, ...Array(4).fill(ofConsole)].map((one) =>
    expect.objectContaining(one),
  )
  expect(ApiStage.Properties.MethodSettings).toEqual(methodSettings)
  const days = [provider.logRetentionInDays, ...[AccessLog, ExecutionLog].map((log) => log.Properties.RetentionInDays)]
  expect(days.map(Number)).toEqual([365, 365, 365])
  const reserved = Object.entries<{ reservedConcurrency?: number }>(functions).flatMap(
    ([name, { reservedConcurrency }]) => (reservedConcurrency === undefined ? [] : [[name, reservedConcurrency]]),
  )
  const lists = ['ownedaccesskeys', 'federatedidentitycredentials', 'identityproviders', 'virtualclusterinstances']
  const watched = [...lists, 'namespaces', 'customresourcedefinitions'].map((name) => [`${name}-list`, 1007])
  expect(reserved.sort()).toEqual([...watched, ['leaks', 13]].sort())
  expect(functions.leaks.environment).toMatchObject({ ON_LEAK: 'report', LEAK_KEYS_URL: params['leak-keys-url'] })
  const ofConsoles = Object.entries(params).filter(([name]) => name.startsWith('console-'))
  expect(functions.console.environment).toEqual(
    Object.fromEntries(ofConsoles.map(([name, value]) => [asVariable(name), value])),
  )
  expect(custom.settings['signing-keys']).toBe('2,1')
  expect(custom.settings['event-bus']).toBe('keys')
}, 60_000)

test('no concurrency is reserved by default', async () => {
  const { template } = await ensurePackaged({ quiet: true })
  expect(await readFile(template, 'utf8')).not.toContain('ReservedConcurrentExecutions')
})
