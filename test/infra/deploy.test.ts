/** Deployments: the role that API Gateway has for the logs of all APIs of an account and region, and the commands that follow. */
import { expect, test } from 'vitest'
import { checkCommands, checkLogRole, unusedText } from '../../infra/deploy.ts'

const other = 'arn:aws:iam::123456789012:role/other'
const own = 'arn:aws:iam::123456789012:role/platform/keyplane-prod-GatewayLogRole-1'

test.each([
  ['the role of others is replaced', other, [], 'the role arn:aws:iam::123456789012:role/other, which this'],
  ['a role is kept that there is not', '', ['api-log-role=keep'], 'API Gateway has no role for logs'],
])('refuses if %s', (_, role, settings, message) => expect(() => checkLogRole(role, settings)).toThrow(message))

test.each([
  ['there is no role', '', []],
  ['a deployment has set the role', own, ['tracing=true']],
  ['others have set the role, which is kept', other, ['api-log-role=keep']],
  ['others have set the role, which is replaced', other, ['api-log-role=set']],
])('does not refuse if %s', (_, role, settings) => expect(() => checkLogRole(role, settings)).not.toThrow())

test('the check of a deployment can be pasted, with any profile and on every system', () => {
  const target = { region: 'eu-central-1', 'aws-profile': 'my profile' }
  const place = { url: 'https://keys.example.com/prod', secret: 'keyplane/prod/access-key' }
  const pasted = (profile: string, dashes: string) =>
    `aws secretsmanager get-secret-value --region eu-central-1 --profile ${profile} --secret-id keyplane/prod/access-key --query SecretString --output text | npm run smoke ${dashes} --url https://keys.example.com/prod --key-file -`
  expect(checkCommands(target, place, 'posix')).toBe(pasted("'my profile'", '--'))
  expect(checkCommands(target, place, 'cmd')).toBe(pasted('"my profile"', '"--"'))
})

test.each([
  [{ keys: 0, ended: 0, isWhole: true }, 'no access key was unused for that long.'],
  [
    { keys: 1, ended: 0, isWhole: true },
    '1 access key was not used for that long. What is still unused on 2026-12-29T00:00:00Z ends then.',
  ],
  [
    { keys: 0, ended: 0, isWhole: false },
    'At least 0 access keys were not used for that long. What is still unused on 2026-12-29T00:00:00Z ends then.',
  ],
  [{ keys: 7, ended: 5, isWhole: true }, '7 access keys were not used for that long; 5 of them ended now.'],
])('says how many keys end: %j', (found, text) =>
  expect(unusedText({ ...found, from: Date.parse('2026-12-29T00:00:00Z') / 1000 })).toBe(`max-idle-seconds: ${text}`),
)
