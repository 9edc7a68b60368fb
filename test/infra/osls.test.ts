/** The arguments of the deploy tool: a deployment must be named. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { readCall, UsageError } from '../../infra/command.ts'
import { osls, param, target, toolArguments } from '../../infra/osls.ts'
import { usePackagedTemplate } from '../support/packagedtemplate.ts'

const named = ['--stage', 'prod', '--region', 'eu-central-1']
const command = { call: 'npm run deploy', about: '', options: { ...target, param } }
const read = (args: string[]) => toolArguments(readCall(command, args).values)

test('stage, region, and optional profile and settings become options of the deploy tool', () => {
  expect(read(named)).toEqual(['--stage=prod', '--region=eu-central-1'])
  const more = ['--aws-profile', 'ops', '--param', 'max-key-ttl-seconds=60', '--param', 'issuer=https://a.example/b=c']
  expect(read([...named, ...more])).toEqual([
    '--stage=prod',
    '--region=eu-central-1',
    '--aws-profile=ops',
    '--param=max-key-ttl-seconds=60',
    '--param=issuer=https://a.example/b=c',
  ])
})

test.each([
  ['no stage', ['--region', 'x'], '--stage is missing'],
  ['no region', ['--stage', 'x'], '--region is missing'],
  ['an option that there is not', [...named, '--force'], "Unknown option '--force'"],
  ['a word that belongs to no option', [...named, 'all'], "Unexpected argument 'all'"],
  ['a setting that there is not', [...named, '--param', 'a=1'], 'there is no setting a'],
])('%s is a wrong call', (_, args, message) => {
  expect(() => read(args)).toThrow(UsageError)
  expect(() => read(args)).toThrow(message)
})

test('the deploy tool needs no home folder, and its output has no colours that the environment asks for', async () => {
  vi.stubEnv('FORCE_COLOR', '1')
  vi.stubEnv('HOME', '/dev/null/home')
  onTestFinished(() => void vi.unstubAllEnvs())
  const printed = await osls('print', ['--stage=dev', '--region=eu-central-1'])
  expect(printed).toMatch(/^service: /m)
  expect(printed).not.toContain('\u001b')
})

test.each(['Prod_1', 'Prod', 'prod-1', '1prod', 'prod.eu', 'fourteenletter', ''])(
  'stage %j is refused with its rule',
  (stage) =>
    expect(() => toolArguments({ stage, region: 'eu-central-1' })).toThrow(
      new UsageError(
        `--stage ${stage} cannot be the name of a deployment: it must be 1 to 13 lower-case letters and digits, starting with a letter`,
      ),
    ),
)

const packaged = usePackagedTemplate()

test('the longest stage keeps every name within the limits of AWS', () => {
  const limits: Record<string, number> = { 'AWS::Lambda::Function': 64, 'AWS::IAM::Role': 64, 'AWS::SQS::Queue': 80 }
  const names = Object.values(packaged.resources).flatMap(({ Type, Properties }) =>
    Object.entries(Properties ?? {}).flatMap(([property, value]) =>
      /^(\w*Name)$/.test(property) && typeof value === 'string' && value.includes('-dev')
        ? [[Type, value] as const]
        : [],
    ),
  )
  expect(names.length).toBeGreaterThan(20)
  const longest = names.map(([type, name]) => [type, name.replace('-dev', `-${'x'.repeat(13)}`)] as const)
  expect(longest.filter(([type, name]) => name.length > (limits[type] ?? 128))).toEqual([])
  expect(Math.max(...longest.map(([type, { length }]) => (type === 'AWS::Lambda::Function' ? length : 0)))).toBe(64)
})
