/** Tests what a report says of the end of a key, and which variables give a credential. */
import { describe, expect, test } from 'vitest'
import type { Session } from '../../../clients/cli/src/api/session.ts'
import { StatusError } from '../../../clients/cli/src/api/status.ts'
import type { Io } from '../../../clients/cli/src/io/io.ts'
import { narrowEnvironment, narrowedWords } from '../../../clients/cli/src/run/environment.ts'
import { tokenEntry } from '../../../clients/cli/src/run/lifecycle.ts'
import { reportText } from '../../../clients/cli/src/run/report.ts'
import { givesCredential } from '../../../clients/core/src/credentialvariables.ts'
import type { KeyUsage } from '../../../clients/core/src/usage.ts'

const target = { kind: 'virtualCluster', project: 'shop', name: 'dev' } as const
const ended = { name: 'run-alice-7k2p', target, prefix: 'p-', seconds: 720 }
const here = 'in virtual cluster "shop/dev"'
const asked = [{ name: 'virtualclusters/p-shop/dev', lastAsked: '2026-11-26' }]
const entry = (request: string, refused?: true) => ({ request, lastUsed: '2026-11-26', ...(refused && { refused }) })

describe('a report', () => {
  test('has one line for each subject with all verbs, first in the cluster, and what was refused apart', () => {
    const usage: KeyUsage = {
      complete: true,
      clusters: asked,
      entries: [
        entry(`list of pods in namespace "web" ${here}`),
        entry(`get of pods in namespace "web" ${here}`),
        entry(`get of pods/log in namespace "web" ${here}`),
        entry(`get of path "/metrics" ${here}`),
        entry('create of virtualclusterinstances/kubeconfig "dev" in project "shop"'),
        entry(`delete of pods in namespace "web" ${here}`, true),
      ],
    }
    expect(reportText({ ...ended, usage })).toBe(`run-alice-7k2p has ended. In 12m:
  get path "/metrics"
  get, list pods in namespace "web"
  get pods/log in namespace "web"
  create virtualclusterinstances/kubeconfig "dev" in project "shop"
Refused, or asked about with can-i:
  delete pods in namespace "web"`)
  })

  test.each<[string, KeyUsage | string]>([
    ['no requests that are recorded', { clusters: asked }],
    ['Virtual cluster shop/dev did not ask about this key: requests there, if there were any, are not known.', {}],
    ['and more that is not recorded', { clusters: asked, refusedMore: true }],
    ['It did more than is recorded.', { clusters: asked, complete: false }],
    ['This deployment does not record usage', { recording: false, complete: false }],
    ['What it did in 12m is not known: it is gone.', 'it is gone.'],
  ])('says %j', (sentence, usage) => {
    expect(reportText({ ...ended, usage })).toContain(sentence)
  })

  test('has what was known before if the record is gone, and says how long keyplane was away', () => {
    const watched = { usage: { clusters: asked, entries: [entry(`list of pods ${here}`)] }, away: 240 }
    expect(reportText({ ...ended, usage: 'it is gone.', watched })).toBe(`run-alice-7k2p has ended. In 12m:
  list pods
The last minute or more is missing: it is gone.
keyplane could not be reached for 4m of it. What was refused meanwhile is missing.`)
  })

  test('says when a key ends that could not be ended', () => {
    const lives = { until: '2026-11-26T10:30:00Z', why: 'keyplane is not there.' }
    expect(reportText({ ...ended, lives, usage: {} })).toMatch(
      /^run-alice-7k2p could not be ended: keyplane is not there\. It ends by itself at 2026-11-26T10:30:00Z\. In 12m:/,
    )
  })
})

// threat: cli-6
test('a variable gives a credential by its name, or by a key or a token in its value', () => {
  const jwt = ['eyJhbGciOiJSUzI1NiJ9', 'eyJpc3MiOiJodHRwczovL2V4YW1wbGUuY29tIn0', 'c2lnbmF0dXJl'].join('.')
  const gives: [string, string][] = [
    ...([
      'KUBECONFIG',
      'Kubeconfig',
      'KEYPLANE_KEY',
      'KEYPLANE_ANYTHING',
      'KUBERNETES_SERVICE_HOST',
      'CIRCLE_OIDC_TOKEN',
      ...['K8S_AUTH_KUBECONFIG', 'K8S_AUTH_API_KEY', 'KUBE_CONFIG', 'KUBE_CONFIG_PATHS', 'KUBE_TOKEN', 'KUBE_HOST'],
      ...['KUBE_CTX', 'HELM_KUBECONTEXT', 'HELM_KUBETOKEN', 'KUBERNETES_MASTER', 'KUBERNETES_AUTH_TOKEN'],
      ...['KUBERNETES_KUBECONFIG', 'SKAFFOLD_KUBE_CONTEXT', 'WERF_KUBE_TOKEN', 'KAPP_KUBECONFIG_YAML'],
      ...['TF_VAR_kubeconfig', 'KUBECONFIG_BASE64', 'PYKUBE_KUBERNETES_SERVICE_HOST'],
    ].map((name) => [name, 'x']) as [string, string][]),
    ['ANYTHING', jwt],
    ['ANYTHING', `Bearer ${jwt}`],
    ['ANYTHING', `a mpk_${'x'.repeat(48)} b`],
  ]
  for (const [name, value] of gives) expect([name, givesCredential(name, value)]).toEqual([name, true])
  for (const [name, value] of [
    ['PATH', '/bin'],
    ['HOME', '/home/me'],
    ...(['KUBE_EDITOR', 'KUBE_NAMESPACE', 'HELM_NAMESPACE', 'KUBERNETES_NAMESPACE'].map((name) => [name, 'x']) as [
      string,
      string,
    ][]),
    ['OPENAI_API_KEY', 'sk-1'],
  ] as const)
    expect([name, givesCredential(name, value)]).toEqual([name, false])
})

// threat: cli-6
test('what named a kube config names that of the command, and one line says what else is gone', () => {
  const own = { KUBECONFIG: '/run/kubeconfig', KEYPLANE_KEY_FILE: '/run/key' }
  const env = {
    ...{ PATH: '/bin', KUBECONFIG: '/home/me/.kube/config', KUBE_CONFIG_PATHS: '/a:/b', K8S_AUTH_KUBECONFIG: '/c' },
    ...{ TF_VAR_kubeconfig_path: '/d', KUBECONFIG_BASE64: 'YQ==', KUBE_TOKEN: 'x', HELM_KUBETOKEN: 'y' },
  }
  const narrowed = narrowEnvironment(env, { own, keep: ['HELM_KUBETOKEN'], secrets: ['mpk_of_the_caller'] })
  expect(narrowed.env).toEqual({
    ...{ PATH: '/bin', HELM_KUBETOKEN: 'y', ...own },
    ...{
      KUBE_CONFIG_PATHS: own.KUBECONFIG,
      K8S_AUTH_KUBECONFIG: own.KUBECONFIG,
      TF_VAR_kubeconfig_path: own.KUBECONFIG,
    },
  })
  expect(narrowedWords(narrowed)).toBe(
    'Removed from its environment: KUBECONFIG_BASE64, KUBE_TOKEN. Set to its kube config: KUBE_CONFIG_PATHS, K8S_AUTH_KUBECONFIG, TF_VAR_kubeconfig_path.',
  )
  expect(narrowedWords({ removed: [], set: [] })).toBe(undefined)
})

describe('a command in a cluster that does not ask keyplane', () => {
  const refusing = (message: string) =>
    ({
      server: 'https://keys.example.com',
      post: async () => {
        throw new StatusError(403, { kind: 'Status', message }, { hint: 'another' })
      },
    }) as unknown as Session
  const hintOf = (message: string) =>
    tokenEntry({} as Io, refusing(message), { kind: 'cluster', name: 'eu' }, 60).catch(({ hint }) => hint)

  test('is told why its scope would hold nothing there', async () => {
    const said = 'the scope restricts what it may do there, and a service account cannot be scoped: a scope with eu'
    expect(await hintOf(said)).toContain('so it enforces no rules. Use --read-only alone')
    expect(await hintOf('another refusal')).toBe('another')
  })
})
