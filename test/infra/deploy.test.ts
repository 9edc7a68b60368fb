/** The check of the role that API Gateway has for the logs of all APIs of an account and region. */
import { expect, test } from 'vitest'
import { checkLogRole } from '../../infra/deploy.ts'

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
