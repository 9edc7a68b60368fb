/** The settings with which an account is strictest. */
import { additions } from './everysetting.ts'

export const strict = {
  domain: additions.domain,
  'certificate-arn': additions['certificate-arn'],
  'disable-execute-api': 'true',
  'allowed-cidrs': '203.0.113.0/24,2001:db8::/32',
  'web-acl-arn':
    'arn:aws:wafv2:eu-central-1:123456789012:regional/webacl/keyplane/0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d',
  'permissions-boundary': 'arn:aws:iam::123456789012:policy/boundary',
  'role-path': '/platform/keyplane/',
  'kms-key-arn': 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d',
  tracing: 'true',
  'audit-retention-days': '2555',
  'backup-vault': 'platform',
  'backup-copy-vault-arn': 'arn:aws:backup:eu-west-1:210987654321:backup-vault:copies',
} as const
