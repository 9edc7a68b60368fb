/** Tests what each platform is given, as its own parser of YAML and its own rules read it. */
import { describe, expect, test } from 'vitest'
import { type Platform, platforms, type Recipe, recipeFor } from '../../../../lib/clusters/connect/recipes.ts'
import { parseYaml } from '../../../support/yaml.ts'

const value = 'mpk_the-key-of-the-cluster'
const issuer = 'https://api.example.com/kubernetes/management'
const certificateAuthority = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
const options = { issuer, api: issuer, place: 'clusters/eu', folder: 'keyplane-eu', label: 'eu', certificateAuthority }
const recipe = (platform?: Platform, more: object = {}): Promise<Recipe> => recipeFor(platform, { ...options, ...more })

const fileIn = ({ files }: Recipe, name: string) => parseYaml(files.find((file) => file.name === name)?.text ?? '')
/** Returns what a step tells to add to a file of the platform. */
const addition = ({ steps }: Recipe) =>
  parseYaml((steps.find((step) => /^ {5}\S/m.test(step)) ?? '').replace(/^.*\n/, '').replaceAll(/^ {5}/gm, ''))

const DIRECTORY = '/etc/kubernetes/keyplane'
const ARGUMENTS = [
  ['authentication-config', `${DIRECTORY}/authentication.yaml`],
  ['authorization-config', `${DIRECTORY}/authorization.yaml`],
  ['authentication-token-webhook-config-file', `${DIRECTORY}/keyplane-authentication.kubeconfig`],
  ['authentication-token-webhook-version', 'v1'],
  ['authentication-token-webhook-cache-ttl', '30s'],
]
const pairs = ARGUMENTS.map((pair) => pair.join('='))

test.each([undefined, ...platforms])('the key of the cluster is in one file of %s only', async (platform) => {
  const { files, key, steps } = await recipe(platform)
  expect(files.map(({ name }) => name)).not.toContain(key.name)
  expect(JSON.stringify([files, steps])).not.toContain(value)
  const text = await key.text(value)
  expect(text.split(value)).toHaveLength(2)
  // Whatever the platform reads has exactly the value: a line break would be part of a bearer token.
  expect([text, ...leaves(await parseYaml(text))]).toContain(value)
})

const leaves = (one: unknown): unknown[] =>
  typeof one === 'object' && one !== null ? Object.values(one).flatMap(leaves) : [one]

test('any kube-apiserver gets the flags, and the files in their folder', async () => {
  const { files, key, steps } = await recipe(undefined, { directory: '/x' })
  expect([...files.map(({ name }) => name), key.name]).toEqual([
    'authentication.yaml',
    'authorization.yaml',
    'keyplane-authorization.kubeconfig',
    'keyplane-authentication.kubeconfig',
    'keyplane-access-key',
  ])
  expect(steps[0]).toMatch(/^Copy keyplane-eu to \/x on every control plane node/)
  expect(steps[1]?.split('\n').slice(1)).toEqual(pairs.map((pair) => `     --${pair.replace(DIRECTORY, '/x')}`))
})

test('kubeadm gets arguments as a list of names and values, and the folder as a volume', async () => {
  expect(await addition(await recipe('kubeadm'))).toEqual({
    apiServer: {
      extraArgs: ARGUMENTS.map(([name, value]) => ({ name, value })),
      extraVolumes: [{ name: 'keyplane', hostPath: DIRECTORY, mountPath: DIRECTORY, readOnly: true }],
    },
  })
})

test('k3s gets arguments without dashes, and RKE2 the folder in the pod of kube-apiserver, too', async () => {
  const [k3s, rke2] = [await recipe('k3s'), await recipe('rke2')]
  expect(await addition(k3s)).toEqual({ 'kube-apiserver-arg': pairs })
  expect(k3s.steps.join()).toMatch(/\/etc\/rancher\/k3s\/config\.yaml.*systemctl restart k3s$/s)
  expect(await addition(rke2)).toEqual({
    'kube-apiserver-arg': pairs,
    'kube-apiserver-extra-mount': [`${DIRECTORY}:${DIRECTORY}:ro`],
  })
  expect(rke2.steps.join()).toMatch(/\/etc\/rancher\/rke2\/config\.yaml.*systemctl restart rke2-server$/s)
})

describe('talos', () => {
  test('writes files below /var that kube-apiserver, which is no root, may read', async () => {
    const made = await recipe('talos')
    const { machine } = await fileIn(made, 'talos.yaml')
    const key = (await parseYaml(await made.key.text(value))).machine.files
    expect([...machine.files, ...key].map(({ content: _, ...file }) => file)).toEqual(
      [
        'authentication.yaml',
        'keyplane-authorization.kubeconfig',
        'keyplane-authentication.kubeconfig',
        'keyplane-access-key',
      ].map((name) => ({ path: `/var/lib/keyplane/${name}`, permissions: 0o444, op: 'create' })),
    )
    expect(made.files[0]?.text).toContain('permissions: 0o444\n')
    expect(await parseYaml(machine.files[0].content)).toMatchObject({
      kind: 'AuthenticationConfiguration',
      jwt: [{ issuer: { url: issuer, certificateAuthority } }],
    })
  })

  test('gets the authorizers themselves, keyplane before RBAC, because it writes their file', async () => {
    const { cluster } = await fileIn(await recipe('talos', { whenAway: 'rbac' }), 'talos.yaml')
    const { authorizationConfig, extraArgs, extraVolumes } = cluster.apiServer
    expect(authorizationConfig.map(({ type }: { type: string }) => type)).toEqual([
      'Webhook',
      'Webhook',
      'Node',
      'RBAC',
    ])
    expect(authorizationConfig[0].webhook.connectionInfo.kubeConfigFile).toBe(
      '/var/lib/keyplane/keyplane-authorization.kubeconfig',
    )
    expect(Object.keys(extraArgs)).toEqual(
      ARGUMENTS.map(([name]) => name).filter((name) => name !== 'authorization-config'),
    )
    expect(extraVolumes).toEqual([{ hostPath: '/var/lib/keyplane', mountPath: '/var/lib/keyplane', readonly: true }])
  })
})

describe('vcluster', () => {
  /** What vCluster runs: its own arguments unless an extra one has their name, and the extra ones (pkg/util/command). */
  const merged = (own: string[], extra: string[]) => {
    const names = extra.filter((one) => one.startsWith('--')).map((one) => one.split('=')[0])
    return [...own.filter((one) => !names.includes(one.split('=')[0])), ...extra]
  }

  test('leaves out its --authorization-mode, and kube-apiserver takes the name for the value of another flag', async () => {
    const { controlPlane } = await fileIn(await recipe('vcluster'), 'vcluster.yaml')
    const { enabled, apiServer } = controlPlane.distro.k8s
    const run = merged(['--authorization-mode=Node,RBAC', '--secure-port=6443'], apiServer.extraArgs)
    expect([enabled, run]).toEqual([
      true,
      ['--secure-port=6443', ...pairs.map((pair) => `--${pair}`), '--disabled-metrics', '--authorization-mode'],
    ])
  })

  test('mounts the files of a ConfigMap and the key of a Secret in one folder', async () => {
    const made = await recipe('vcluster', { label: 'shop-dev', place: 'virtualclusters/p-shop/dev/u-1' })
    const { persistence } = (await fileIn(made, 'vcluster.yaml')).controlPlane.statefulSet
    const [config, secret] = ['keyplane-shop-dev', 'keyplane-shop-dev-access-key']
    expect(persistence).toEqual({
      addVolumes: [
        { name: 'keyplane', projected: { sources: [{ configMap: { name: config } }, { secret: { name: secret } }] } },
      ],
      addVolumeMounts: [{ name: 'keyplane', mountPath: DIRECTORY, readOnly: true }],
    })
    const { kind, metadata, data } = await fileIn(made, 'files.yaml')
    expect([kind, metadata, Object.keys(data)]).toEqual([
      'ConfigMap',
      { name: config },
      [
        'authentication.yaml',
        'authorization.yaml',
        'keyplane-authorization.kubeconfig',
        'keyplane-authentication.kubeconfig',
      ],
    ])
    expect((await parseYaml(data['authentication.yaml'])).jwt[0].issuer.audiences).toEqual([
      `${issuer}/virtualclusters/p-shop/dev/u-1`,
    ])
    expect(await parseYaml(await made.key.text(value))).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secret },
      stringData: { 'keyplane-access-key': value },
    })
  })
})
