/** The template of a deployment with other settings than the default ones. */

import { readValues } from '../../infra/settings/values.ts'
import { evaluate } from '../support/evaluatedtemplate.ts'
import { type Resource, usePackagedTemplate } from '../support/packagedtemplate.ts'

/** Settings that add to the template, with values that validation accepts. */
export const additions = {
  domain: 'keys.example.com',
  'certificate-arn': 'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d',
  'provisioned-concurrency': '2',
  'warm-read-units': '20000',
  'warm-write-units': '8000',
  'vpc-subnets': 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
  'vpc-security-groups': 'sg-0123456789abcdef0',
  'list-concurrency': '5',
  'leak-concurrency': '2',
  'signing-keys': '2,1',
  'console-issuer': 'https://login.company.example/realms/staff',
  'console-client-id': 'keyplane',
  'console-credential': 'staff@5d0a3a55-6d6f-4d0e-8a0f-3f1f6c0d9b11',
  'console-scopes': 'openid email groups',
  'console-origins': 'https://tokens.company.example',
} as const

const packaged = usePackagedTemplate()

/** Returns the resources and outputs of stage prod with these settings. */
export function templateWith(settings: Readonly<Record<string, string>>) {
  const values = readValues(Object.entries(settings).map(([name, value]) => `${name}=${value}`))
  const { Resources, Outputs } = evaluate(packaged.template, { Stage: 'prod', ...values })
  return {
    text: JSON.stringify({ Resources, Outputs }),
    resources: Resources as Readonly<Record<string, Resource>>,
    outputs: Outputs as Readonly<Record<string, { Value: unknown }>>,
  }
}
