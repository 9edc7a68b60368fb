/** What is left of the environment in which the tests are started. */
import { expect, test } from 'vitest'
import { isKept } from './support/environment.ts'

test.each([
  ...[
    'AWS_PROFILE',
    'AWS_ACCESS_KEY_ID',
    'AWS_ENDPOINT_URL',
    'KUBECONFIG',
    'KEYPLANE_KEY',
    'MAX_KEY_TTL_SECONDS',
    'STAGE',
  ],
  ...[
    'GIT_DIR',
    'NODE_OPTIONS',
    'NODE_ENV',
    'npm_config_registry',
    'https_proxy',
    'BASH_ENV',
    'XDG_CACHE_HOME',
    'FORCE_COLOR',
  ],
])('%s of a shell decides about no test', (name) => expect(isKept(name)).toBe(false))

test.each(['PATH', 'Path', 'HOME', 'TMPDIR', 'LC_ALL', 'TZ'])('%s is kept', (name) => expect(isKept(name)).toBe(true))

test('what npm adds is gone', () =>
  expect(Object.keys(process.env).filter((name) => name.startsWith('npm_'))).toEqual([]))
