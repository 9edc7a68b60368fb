import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { type ExampleFacts, examples } from '../../../infra/local/examples.ts'
import { wordsOfOneShell } from '../../support/shelltext.ts'

const folder = `/tmp/it's "my" $HOME; data`
const facts: ExampleFacts = {
  url: 'https://127.0.0.1:8443/kubernetes/management',
  files: {
    ca: `${folder}/ca.crt`,
    accessKey: `${folder}/access-key`,
    kubeconfig: `${folder}/kubeconfig`,
    jobEnvironment: `${folder}/job.env`,
  },
  demoKubeconfig: `${folder}/demo.kubeconfig`,
  shell: 'posix',
}
const text = examples(facts)
const lines = text.slice(text.indexOf('\nprintf '))

/** Runs shell text in which every command prints its arguments, one per line, instead of doing anything. */
const argumentsOf = (script: string): string[] => {
  const stubs = ['curl', 'kubectl', 'node', 'npx'].map((name) => `${name}() { printf '%s\\n' ${name} "$@"; }`)
  return execFileSync('/bin/sh', ['-euc', `cat() { printf KEY; }\n${stubs.join('\n')}\n${script}`], {
    encoding: 'utf8',
  }).split('\n')
}

test('the commands work in a shell, in a folder with any name', () => {
  const [who = '', specified = '', ...rest] = lines
    .split('\n')
    .filter((line) => /^printf .*\| curl .* -H @- /.test(line))
  expect(argumentsOf(who)).toEqual([
    'curl',
    '-sS',
    '--cacert',
    `${folder}/ca.crt`,
    '-H',
    '@-',
    '-H',
    'Content-Type: application/json',
    '-d',
    '{}',
    'https://127.0.0.1:8443/kubernetes/management/apis/management.platform/v1/selves',
    '',
  ])
  expect(rest).toHaveLength(1)
  // The request of the specification, section 4.1.
  expect(argumentsOf(`KEY=secret\n${specified}'`)).toEqual([
    'curl',
    '-sS',
    '--cacert',
    `${folder}/ca.crt`,
    '-H',
    '@-',
    '-H',
    'Content-Type: application/yaml',
    'https://127.0.0.1:8443/kubernetes/management/apis/management.platform/v1/namespaces/p-demo/virtualclusterinstances/demo/kubeconfig',
    '--data-binary',
    '',
    '',
  ])
  expect(wordsOfOneShell(lines, '/')).toEqual([])
  const heredoc = lines.slice(lines.indexOf('kubectl create'), lines.indexOf('\nEOF') + 4)
  expect(argumentsOf(heredoc).slice(0, 4)).toEqual(['kubectl', 'create', '-o', 'jsonpath={.spec.key}'])
  const body = heredoc.split('\n').slice(1, -1).join('\n')
  expect(JSON.parse(body)).toMatchObject({ kind: 'OwnedAccessKey', spec: { user: 'alice' } })
})

test.each(['cmd', 'powershell'] as const)(
  'the commands for %s are of the command line and kubectl, with words of that shell',
  (shell) => {
    const printed = examples({ ...facts, shell, demoKubeconfig: 'C:\\my work\\demo.kubeconfig' })
    expect(printed.match(/^(npx|kubectl) .*$/gm)).toEqual([
      'npx keyplane whoami',
      'npx keyplane keys create --user alice --ttl 1d --project demo',
      'npx keyplane kubeconfig demo/demo --with token --output "C:\\my work\\demo.kubeconfig"',
      'kubectl --kubeconfig "C:\\my work\\demo.kubeconfig" get pods',
    ])
    expect(printed).not.toMatch(/export|curl|printf|\$\(/)
  },
)
