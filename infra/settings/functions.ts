/** Settings of what functions do. */
import { spaceNamespaces } from '../../lib/authorization/scopes/space.ts'
import { defaults } from '../../lib/server/process/variables.ts'
import { type Group, text } from './setting.ts'

export const spaces: Group = {
  heading: 'Projects and spaces',
  functions: 'all',
  settings: {
    'project-namespace-prefix': text('PROJECT_NAMESPACE_PREFIX', {
      default: defaults.PROJECT_NAMESPACE_PREFIX,
      meaning: 'Prefix of the namespace that holds the objects of a project.',
    }),
    'space-namespace': {
      type: 'text',
      pattern: new RegExp(spaceNamespaces.source.replace(/\?<\w+>/g, '')),
      form: 'optional text, {project}, a separator, {space} and optional text, of lower-case letters, digits and hyphens',
      default: defaults.SPACE_NAMESPACE,
      meaning: 'Names of the namespaces of spaces in connected clusters ([scopes](scopes.md#spaces)).',
      breaks:
        'Choose a pattern that matches no other namespace: `{project}-{space}` would make `kube-system` space `system` of project `kube`. A change takes effect immediately for every key and token for `spaces` or `projects`.',
    },
  },
}

export const behaviour: Group = {
  heading: 'Records, compression and issuers',
  functions: 'all',
  settings: {
    'record-sources': {
      type: 'boolean',
      default: defaults.RECORD_SOURCES,
      meaning:
        'Whether [`status.lastSources`](access-keys.md#where-a-key-was-used-from) and the [history](access-keys.md#history) of an access key have the addresses and user agents that used it. They are personal data. With `false` they are no longer shown, and each use of a key removes the last ones; those of the history expire. [Audit records](audit.md) and [events](events.md) have addresses in any case.',
    },
    'record-usage': {
      type: 'boolean',
      default: defaults.RECORD_USAGE,
      meaning:
        'Whether [what each access key does](usage.md) is recorded: resources, verbs and namespaces, for 90 days. The advisor needs it.',
      breaks:
        'With `false` nothing more is recorded. If you set it to `true` again, the time in which usage is recorded begins anew.',
    },
    'compress-streams': {
      type: 'boolean',
      default: defaults.COMPRESS_STREAMS,
      meaning:
        'Whether lists and OpenAPI documents of more than 128 KB, and the files of the [console](console.md), are compressed for clients that accept gzip. Functions compress them.',
      breaks: 'Set it to `false` if `npm run smoke` says that a compressed list arrives damaged.',
    },
    'allow-private-issuers': {
      type: 'boolean',
      default: defaults.ALLOW_PRIVATE_ISSUERS,
      meaning:
        'Whether the issuer of an identity provider may be at a private address (RFC 1918, RFC 4193). Loopback and link-local addresses are always refused.',
      breaks: 'In a VPC it needs NAT for public issuers: see [a VPC](deploying.md#a-vpc).',
    },
  },
}

export const leaks: Group = {
  heading: 'Leaked keys',
  functions: ['leaks'],
  settings: {
    'on-leak': {
      type: 'text',
      values: ['disable', 'report'],
      pattern: /^(disable|report)$/,
      form: 'disable or report',
      default: defaults.ON_LEAK,
      meaning:
        'What a [report of a leaked key](leaks.md) does: `disable` ends it; `report` ends nothing, and leaves the alarm and the event.',
    },
    'leak-keys-url': text('LEAK_KEYS_URL', {
      maximumLength: 512,
      default: 'https://api.github.com/meta/public_keys/secret_scanning',
      meaning: 'Where GitHub publishes the keys with which it signs reports, at a public address.',
    }),
  },
}

export const consoles: Group = {
  heading: 'Signing in to the console',
  functions: ['console'],
  settings: {
    'console-issuer': text('CONSOLE_ISSUER', {
      maximumLength: 512,
      requires: ['console-client-id', 'console-credential'],
      meaning: 'The issuer of an identity provider with which people sign in to [the console](sign-in.md).',
    }),
    'console-client-id': text('CONSOLE_CLIENT_ID', {
      requires: ['console-issuer', 'console-credential'],
      meaning: 'The client ID of the console there.',
    }),
    'console-credential': text('CONSOLE_CREDENTIAL', {
      requires: ['console-issuer', 'console-client-id'],
      meaning: '`NAME@UID` of the federated identity credential that exchanges its ID tokens.',
    }),
    'console-scopes': text('CONSOLE_SCOPES', {
      requires: ['console-issuer'],
      absent: defaults.CONSOLE_SCOPES,
      meaning: 'The scopes that the console asks the identity provider for.',
    }),
    'console-origins': text('CONSOLE_ORIGINS', {
      requires: ['console-issuer'],
      meaning:
        'Further origins of the identity provider that the console may call, if its endpoints are not at the origin of the issuer.',
    }),
  },
}
