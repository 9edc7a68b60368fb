/** The settings of a deployment: every value is checked before the deploy, alike by the command and by CloudFormation. */
import { expect, test } from 'vitest'
import { settingsPage } from '../../infra/settings/page.ts'
import { parameters, rules } from '../../infra/settings/parameters.ts'
import { patternOf } from '../../infra/settings/range.ts'
import { parameterOf, type Setting, variableOf } from '../../infra/settings/setting.ts'
import { groups, settings } from '../../infra/settings/table.ts'
import { accepts, readValues, stageError } from '../../infra/settings/values.ts'
import { defaults } from '../../lib/server/process/variables.ts'
import { usePackagedTemplate } from '../support/packagedtemplate.ts'
import { additions, templateWith } from './everysetting.ts'

const packaged = usePackagedTemplate()

/** Returns the parameters for these settings, which are given with all that they require. */
const read = (given: Readonly<Record<string, string>>) =>
  readValues(Object.entries(given).map(([name, value]) => `${name}=${value}`))

test('the page has every setting', () => expect(settingsPage()).toMatchFileSnapshot('../../docs/settings.md'))

test('refuses an unknown setting, which would leave the default in force', () => {
  expect(read({ 'max-key-ttl-seconds': '60', issuer: 'https://a.example/b=c' })).toEqual({
    MaxKeyTtlSeconds: '60',
    Issuer: 'https://a.example/b=c',
  })
  for (const wrong of ['max-key-ttl', 'constructor', 'stage'])
    expect(() => read({ 'throttle-rate': '5', [wrong]: '1' })).toThrow(`there is no setting ${wrong}`)
  expect(() => readValues(['A'])).toThrow('--param A is not NAME=VALUE')
})

test('checks the name of a stage', () => {
  for (const wrong of ['', 'Prod', '1prod', 'my-stage', 'fourteenletter'])
    expect([wrong, stageError(wrong)]).toEqual([wrong, expect.stringContaining('must be 1 to 13 lower-case letters')])
  for (const stage of ['p', 'prod2']) expect(stageError(stage)).toBeUndefined()
})

/** Reports whether CloudFormation takes the value, as "Parameters" of its User Guide describes. */
function isTaken(name: string, value: string): boolean {
  const { AllowedPattern, AllowedValues, MaxLength, MaxValue, MinValue, Type } = parameters[parameterOf(name)] ?? {}
  if (AllowedValues) return AllowedValues.includes(value)
  if (Type === 'Number')
    return /^-?\d+(\.\d+)?$/.test(value) && Number(value) >= Number(MinValue) && Number(value) <= Number(MaxValue)
  return new RegExp(`^(?:${AllowedPattern})$`).test(value) && value.length <= (MaxLength ?? 4096)
}

const credential = 'staff@5d0a3a55-6d6f-4d0e-8a0f-3f1f6c0d9b11'
const url = 'https://a.example'
const wrongURLs = ['', 'http://a.example', `${url}?x`]
const flag = [
  ['', 'yes', 1],
  [true, false],
] as const

test.each<[setting: string, refused: readonly unknown[], taken: readonly unknown[]]>([
  ['issuer', [...wrongURLs, `${url}/`, `${url}#x`, 'https://a b'], [url, `${url}:8443/b/c`]],
  ['max-key-ttl-seconds', [-1, 1.5, 'day', 4_000_000_000], [0, 86_400]],
  ['max-token-ttl-seconds', [0, 599, 'day'], [600]],
  ['max-certificate-ttl-seconds', [-1, 1, 599], [0, 600]],
  ['key-retention-seconds', [-1, 'week'], [0, 604_800]],
  ['federated-key-retention-seconds', [-1, 'day'], [0, 86_400]],
  ['reject-id-tokens-before', [-1, '2026-11-22T12:00:00Z', 1.5], [0, 1_795_348_800]],
  [
    'max-idle-seconds',
    [-1, 1, 604_799, 604_800.5, '1e9', ' 604800', 'a week', '', 3_153_600_001, '9'.repeat(400)],
    [0, 604_800, 3_153_600_000],
  ],
  ['max-keys-per-owner', [-1, 1.5, 'many', 100_001], [0, 1000]],
  ['max-exchange-ttl-seconds', [0, 59, 86_401, 'hour'], [60, 43_200]],
  ['exchange-throttle-rate', [0, 10_001, 'fast'], [1, 50]],
  ['exchange-throttle-burst', [0, 5_001], [1, 100]],
  ['allow-private-issuers', ...flag],
  ['on-leak', ['', 'ignore', true], ['disable', 'report']],
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
  [
    'allowed-cidrs',
    ['', '203.0.113.0', '203.0.113.0/24,', '203.0.113.0/24 10.0.0.0/8', 'a host/24'],
    ['203.0.113.0/24', '203.0.113.0/24,2001:db8::/32'],
  ],
  ['vpc-endpoint-ids', ['', 'vpce-1', 'vpc-01234567'], ['vpce-01234567,vpce-89abcdef']],
  ['disable-execute-api', ...flag],
  [
    'web-acl-arn',
    [
      '',
      'arn:aws:wafv2:us-east-1:123456789012:global/webacl/a/0a1b',
      'arn:aws:wafv2:eu-central-1::regional/webacl/a/0a1b',
    ],
    ['arn:aws-us-gov:wafv2:us-gov-west-1:123456789012:regional/webacl/a/0a1b-2c'],
  ],
  [
    'permissions-boundary',
    ['', 'boundary', 'arn:aws:iam::123456789012:role/a'],
    ['arn:aws:iam::123456789012:policy/a/b', 'arn:aws-cn:iam::aws:policy/PowerUserAccess'],
  ],
  ['role-path', ['', '/', 'platform', '/platform', '/a b/'], ['/platform/', '/a/b/']],
  [
    'kms-key-arn',
    ['', 'alias/a', 'arn:aws:kms:eu-central-1:123456789012:alias/a'],
    ['arn:aws-cn:kms:cn-north-1:123456789012:key/0a1b-2c'],
  ],
  ['tracing', ...flag],
  ['api-log-role', ['', 'none'], ['set', 'keep']],
  ['audit-retention-days', [0, -1, 36_501, 'year'], [1, 2555]],
  ['backup-vault', ['', 'a', 'a b'], ['platform']],
  [
    'backup-copy-vault-arn',
    ['', 'copies', 'arn:aws:backup:eu-west-1::backup-vault:a'],
    ['arn:aws:backup:eu-west-1:123456789012:backup-vault:copies'],
  ],
  ['rollout', ['', 'slow'], ['canary', 'linear', 'all-at-once']],
  ['provisioned-concurrency', [0, -1, 1.5, 1_001, 'many'], [1, 1_000]],
  ['warm-read-units', [0, 11_999, 40_001, 'many'], [12_000, 40_000]],
  ['warm-write-units', [0, 3_999, 40_001, 'many'], [4_000, 40_000]],
  [
    'vpc-subnets',
    ['', 'subnet-1', 'subnet-01234567,', 'vpc-01234567', 'subnet-01234567 subnet-89abcdef'],
    ['subnet-01234567'],
  ],
  ['vpc-security-groups', ['', 'sg-1', 'default', Array(6).fill('sg-01234567').join()], ['sg-01234567,sg-89abcdef']],
  [
    'signing-keys',
    ['', '0', '1,', '1 2', 'a', '1,2,3,4,5', '10', '2,1,2', '2,2-rsa', '2rsa', '2-ec'],
    ['1', '2,1', '9,8,7,6', '2-rsa,1', '1-rsa'],
  ],
  [
    'event-bus',
    ['', 'a bus', '/keys', 'arn:aws:sns:eu-central-1:123456789012:keys', 'arn:aws:events:eu-central-1::event-bus/keys'],
    ['default', 'none', 'keys/prod', 'arn:aws-us-gov:events:us-gov-west-1:123456789012:event-bus/keys'],
  ],
])('checks the values of %s', (name, refused, taken) => {
  const setting = settings.get(name) as Setting
  const judged = (values: readonly unknown[]) => values.map(String).filter((value) => accepts(setting, value))
  expect([judged(refused), judged(taken)]).toEqual([[], taken.map(String)])
  // A number with a fraction is the only one that CloudFormation takes beyond; nothing stands for none.
  const beyond = setting.default === undefined ? [''] : []
  const byCloudFormation = (values: readonly unknown[]) => values.map(String).filter((value) => isTaken(name, value))
  expect(byCloudFormation(taken)).toEqual(taken.map(String))
  expect(byCloudFormation(refused).filter((value) => !value.includes('.'))).toEqual(
    beyond.filter((value) => refused.includes(value)),
  )
})

test('every default is a value, and each one of functions is that of a setting', () => {
  const wrong = [...settings].filter(
    ([, setting]) => setting.default !== undefined && !accepts(setting, String(setting.default)),
  )
  expect(wrong).toEqual([])
  expect([...settings.keys()].map(variableOf)).toEqual(expect.arrayContaining(Object.keys(defaults)))
  expect([...settings.keys()].filter((name) => !isTaken(name, parameters[parameterOf(name)]?.Default ?? ' '))).toEqual(
    [],
  )
})

test.each([
  [600, 3_153_600_000],
  [10, 265],
  [12_000, 40_000],
  [1, 1000],
  [95, 1234],
  [7, 7],
])('a pattern of numbers from %d to %d matches exactly these', (minimum, maximum) => {
  const pattern = new RegExp(`^(${patternOf(minimum, maximum)})$`)
  const around = [minimum, maximum, 9, 99, 999, 9999].flatMap((one) => [one - 1, one, one + 1])
  const numbers = [...around, ...Array.from({ length: 1500 }, (_, index) => index)]
  expect(numbers.filter((one) => pattern.test(String(one)) !== (one >= minimum && one <= maximum))).toEqual([])
})

test.each([
  ['domain', ['certificate-arn']],
  ['vpc-subnets', ['vpc-security-groups']],
  ['console-issuer', ['console-client-id', 'console-credential']],
])('%s and what it requires are given together', (one, others) => {
  const given: Readonly<Record<string, string>> = additions
  const names = [one, ...others]
  expect(Object.keys(read(Object.fromEntries(names.map((name) => [name, given[name] ?? '']))))).toHaveLength(
    names.length,
  )
  for (const missing of names) {
    const rest = names.filter((name) => name !== missing)
    expect(() => read(Object.fromEntries(rest.map((name) => [name, given[name] ?? ''])))).toThrow(`requires ${missing}`)
    for (const name of rest)
      expect(JSON.stringify(rules[`${parameterOf(name)}Rule`]?.Assertions)).toContain(
        `{"Ref":"${parameterOf(missing)}"}`,
      )
  }
})

test('the optional settings for signing in to the console are not given alone', () => {
  for (const alone of ['console-scopes', 'console-origins'] as const)
    expect(() => read({ [alone]: additions[alone] })).toThrow(`the setting ${alone} requires console-issuer`)
})

test('every parameter has an effect, and every function the variables of its settings', () => {
  const { Parameters = {}, Conditions, Resources, Outputs } = packaged.template
  const used = JSON.stringify([Conditions, Resources, Outputs])
  const idle = Object.keys(Parameters).filter(
    (name) => !used.includes(`{"Ref":"${name}"}`) && !used.includes(`\${${name}}`),
  )
  expect(idle).toEqual([])
  const changed = templateWith({ ...additions, 'max-key-ttl-seconds': '1001', 'on-leak': 'report' })
  const variables = Object.entries(changed.resources).flatMap(([id, { Type, Properties }]) =>
    Type === 'AWS::Lambda::Function' ? [[id, Properties.Environment.Variables] as const] : [],
  )
  expect(variables.length).toBeGreaterThan(50)
  for (const [id, environment] of variables) {
    const own = groups.filter(
      ({ functions }) => functions === 'all' || functions?.some((name) => id === `${parameterOf(name)}LambdaFunction`),
    )
    const names = own.flatMap((group) => Object.keys(group.settings)).map(variableOf)
    expect([id, Object.keys(environment)]).toEqual([id, expect.arrayContaining(names)])
    expect(environment).toMatchObject({ STAGE: 'prod', MAX_KEY_TTL_SECONDS: '1001' })
  }
  const { LeaksLambdaFunction, ConsoleLambdaFunction } = Object.fromEntries(variables)
  expect([LeaksLambdaFunction.ON_LEAK, ConsoleLambdaFunction.CONSOLE_SCOPES]).toEqual(['report', 'openid email groups'])
})

test('limits and retention reach the stage and every log', () => {
  const { resources } = templateWith({
    'throttle-rate': '1005',
    'throttle-burst': '1006',
    'exchange-throttle-rate': '1011',
    'exchange-throttle-burst': '1012',
    'log-retention-days': '365',
    'list-concurrency': '1007',
    'leak-concurrency': '13',
  })
  const rates = new Map<string, [string, string]>(
    resources.ApiStage?.Properties.MethodSettings.map((one: Record<string, string>) => [
      `${one.HttpMethod} ${one.ResourcePath}`,
      [one.ThrottlingRateLimit, one.ThrottlingBurstLimit],
    ]),
  )
  expect(rates.get('* /*')).toEqual(['1005', '1006'])
  const ofExchanges = ['token', 'revoke'].map((name) => `POST /~1kubernetes~1management~1oauth2~1${name}`)
  for (const route of ofExchanges) expect(rates.get(route)).toEqual(['1011', '1012'])
  const all = Object.entries(resources)
  const days = all.flatMap(([, { Type, Properties }]) =>
    Type === 'AWS::Logs::LogGroup' ? [Properties.RetentionInDays] : [],
  )
  expect(new Set(days)).toEqual(new Set(['365']))
  const reserved = all.flatMap(([id, { Properties }]) =>
    Properties?.ReservedConcurrentExecutions === undefined ? [] : [[id, Properties.ReservedConcurrentExecutions]],
  )
  const lists = [
    'Ownedaccesskeys',
    'Federatedidentitycredentials',
    'Identityproviders',
    'Virtualclusterinstances',
    'Clusters',
  ]
  const watched = [...lists, 'Namespaces', 'Customresourcedefinitions'].map((name) => [
    `${name}DashlistLambdaFunction`,
    '1007',
  ])
  expect(reserved.sort()).toEqual([...watched, ['LeaksLambdaFunction', '13']].sort())
  expect(packaged.text).not.toContain('ReservedConcurrentExecutions')
})
