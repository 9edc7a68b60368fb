/** Which deployment a command is about: never one that nobody has named. */
import { expect, test } from 'vitest'
import { UsageError } from '../../infra/command.ts'
import { readTarget } from '../../infra/osls.ts'

const named = ['--stage', 'prod', '--region', 'eu-central-1']

test('stage and region become options of the deploy tool, with profile and settings where they are given', () => {
  expect(readTarget(named)).toEqual(['--stage=prod', '--region=eu-central-1'])
  const more = ['--aws-profile', 'ops', '--param', 'max-key-ttl-seconds=60', '--param', 'spaces=a=b']
  expect(readTarget([...named, ...more], { params: true })).toEqual([
    '--stage=prod',
    '--region=eu-central-1',
    '--aws-profile=ops',
    '--param=max-key-ttl-seconds=60',
    '--param=spaces=a=b',
  ])
})

test.each([
  ['no stage', ['--region', 'x'], '--stage is missing'],
  ['no region', ['--stage', 'x'], '--region is missing'],
  ['an option that there is not', [...named, '--force'], "Unknown option '--force'"],
  ['a word that belongs to no option', [...named, 'all'], "Unexpected argument 'all'"],
  ['a setting where none is taken', [...named, '--param', 'a=b'], '--param is for deploy'],
])('%s is a wrong call', (_, args, message) => {
  expect(() => readTarget(args)).toThrow(UsageError)
  expect(() => readTarget(args)).toThrow(message)
})

test('a setting without a value is a wrong call', () => {
  expect(() => readTarget([...named, '--param', 'A'], { params: true })).toThrow('--param A is not NAME=VALUE')
})
