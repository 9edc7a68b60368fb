/** Tests the reading commands of kubectl against the whole API. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rows } from '../support/columns.ts'
import { describeKubectl, type Kubectl, kubectlOf, useKubectl } from '../support/kubectl.ts'
import { accessKey, instance, instances, keys } from '../support/objects.ts'

const key = (name: string, spec: object, labels: object) => accessKey(name, spec, { labels })

describeKubectl('kubectl', () => {
  const api = useKubectl()
  let alice: Kubectl
  let aliceKey: string

  const post = (path: string, body: object) => api.server.make(path, body)

  beforeAll(async () => {
    const made = await post(keys, key('alice', { user: 'alice', displayName: 'Laptop' }, { app: 'laptop' }))
    aliceKey = made.spec.key
    await post(keys, key('ci', { user: 'bob', ttl: 86400, description: 'pipeline', disabled: true }, { app: 'ci' }))
    await post(keys, key('team', { team: 'ops', type: 'User' }, { app: 'ci' }))
    await post(instances('p-web'), instance('preview', { owner: { user: 'alice' }, displayName: 'Preview' }))
    await post(
      instances('p-web'),
      instance('stable', { clusterRef: { cluster: 'eu-1' }, accessPoint: { ingress: { host: 'stable.example.com' } } }),
    )
    await post(instances('p-shop'), instance('preview'))
    alice = await kubectlOf(api.server, aliceKey)
  }, 120_000)
  afterAll(() => alice?.stop())

  test.concurrent('get prints the columns of the kind', async () => {
    const { code, stdout } = await api.kubectl.run('get', 'ownedaccesskeys')
    expect(code).toBe(0)
    expect(stdout.split('\n')[0]).toMatch(/^NAME +DISPLAY NAME +OWNER +TYPE +DISABLED +LAST ACTIVITY +EXPIRES +AGE$/)
    const [admin, ...others] = rows(stdout)
    expect(admin).toMatchObject({ OWNER: 'admin', TYPE: 'User', DISABLED: 'false', EXPIRES: 'never' })
    expect(admin?.['LAST ACTIVITY']).toMatch(/^\d+[sm]/)
    expect(others.map(({ NAME, OWNER, DISABLED, EXPIRES }) => [NAME, OWNER, DISABLED, EXPIRES])).toEqual([
      ['alice', 'alice', 'false', 'never'],
      ['ci', 'bob', 'true', '23h'],
      ['team', 'team:ops', 'false', 'never'],
    ])
  })

  test.concurrent('get -o wide adds the other columns', async () => {
    const { stdout } = await api.kubectl.run('get', 'ownedaccesskey', 'ci', '-o', 'wide')
    expect(rows(stdout)[0]).toMatchObject({ NAME: 'ci', PHASE: 'Disabled', DESCRIPTION: 'pipeline' })
    const wide = await api.kubectl.run('get', 'vci', 'stable', '-n', 'p-web', '-o', 'wide')
    expect(rows(wide.stdout)[0]).toMatchObject({ CLUSTER: 'eu-1', HOST: 'stable.example.com', OWNER: '' })
  })

  test.concurrent('get prints names, JSON, YAML, JSONPath and custom columns', async () => {
    const outputs = ['name', 'json', 'yaml', 'jsonpath={.spec.user}', 'custom-columns=N:.metadata.name,U:.spec.user']
    const [name, json, yaml, path, columns] = await Promise.all(
      outputs.map((output) => api.kubectl.run('get', 'ownedaccesskey', 'ci', '-o', output)),
    )
    expect(name?.stdout).toBe('ownedaccesskey.management.platform/ci\n')
    const object = JSON.parse(json?.stdout ?? '')
    const { uid, creationTimestamp, resourceVersion } = object.metadata
    const { expirationTimestamp } = object.status
    expect(object).toEqual({
      apiVersion: 'management.platform/v1',
      kind: 'OwnedAccessKey',
      metadata: { name: 'ci', labels: { app: 'ci' }, generation: 1, uid, creationTimestamp, resourceVersion },
      spec: { user: 'bob', ttl: 86400, description: 'pipeline', disabled: true },
      status: { owner: 'bob', phase: 'Disabled', expirationTimestamp },
    })
    expect(yaml?.stdout).toBe(
      `apiVersion: management.platform/v1
kind: OwnedAccessKey
metadata:
  creationTimestamp: "${creationTimestamp}"
  generation: 1
  labels:
    app: ci
  name: ci
  resourceVersion: "${resourceVersion}"
  uid: ${uid}
spec:
  description: pipeline
  disabled: true
  ttl: 86400
  user: bob
status:
  expirationTimestamp: "${expirationTimestamp}"
  owner: bob
  phase: Disabled
`,
    )
    expect(path?.stdout).toBe('bob')
    expect(rows(columns?.stdout ?? '')).toEqual([{ N: 'ci', U: 'bob' }])
  })

  test.concurrent('get --sort-by orders by any field', async () => {
    const { stdout } = await api.kubectl.run(
      'get',
      'ownedaccesskeys',
      '-l',
      'app',
      '--sort-by=.spec.user',
      '-o',
      'name',
    )
    expect(stdout.trim().split('\n')).toEqual(
      ['team', 'alice', 'ci'].map((name) => `ownedaccesskey.management.platform/${name}`),
    )
    const table = await api.kubectl.run('get', 'ownedaccesskeys', '--sort-by=.metadata.creationTimestamp')
    expect(rows(table.stdout)).toHaveLength(4)
  })

  test.concurrent.each([
    { args: ['-l', 'app=ci'], names: ['ci', 'team'] },
    { args: ['-l', 'app in (ci),app!=laptop'], names: ['ci', 'team'] },
    { args: ['-l', '!app', '--field-selector', 'spec.user=admin,metadata.name!=x'], names: [expect.any(String)] },
    { args: ['--field-selector', 'spec.user=bob'], names: ['ci'] },
    { args: ['--field-selector', 'metadata.name=team'], names: ['team'] },
    { args: ['--field-selector', 'spec.disabled=true'], names: ['ci'] },
    { args: ['--field-selector', 'spec.team=ops,spec.type=User'], names: ['team'] },
    { args: ['-l', 'app', '--chunk-size=1'], names: ['alice', 'ci', 'team'] },
  ])('get $args selects', async ({ args, names }) => {
    const { stdout, stderr } = await api.kubectl.run('get', 'ownedaccesskeys', ...args)
    expect(stderr).toBe('')
    expect(rows(stdout).map(({ NAME }) => NAME)).toEqual(names)
  })

  test.concurrent('get names a field that field selectors do not support', async () => {
    const { code, stderr } = await api.kubectl.run('get', 'ownedaccesskeys', '--field-selector', 'spec.key=x')
    expect(code).toBe(1)
    expect(stderr).toBe(
      'Error from server (BadRequest): Unable to find "management.platform/v1, Resource=ownedaccesskeys" that match label selector "", field selector "spec.key=x": field label not supported: spec.key\n',
    )
  })

  test.concurrent('namespaces keep instances apart', async () => {
    const [web, all, none] = await Promise.all([
      api.kubectl.run('get', 'vci', '-n', 'p-web', '-o', 'name'),
      api.kubectl.run('get', 'virtualclusterinstances', '-A'),
      api.kubectl.run('get', 'vci'),
    ])
    expect(web.stdout).toBe(
      'virtualclusterinstance.management.platform/preview\nvirtualclusterinstance.management.platform/stable\n',
    )
    expect(rows(all.stdout).map(({ NAMESPACE, NAME }) => `${NAMESPACE}/${NAME}`)).toEqual([
      'p-shop/preview',
      'p-web/preview',
      'p-web/stable',
    ])
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'No resources found in default namespace.\n' })
  })

  test.concurrent('get reports a missing object, resource and namespace', async () => {
    const [object, resource, namespace, inNamespace] = await Promise.all([
      api.kubectl.run('get', 'ownedaccesskey', 'nobody'),
      api.kubectl.run('get', 'pods'),
      api.kubectl.run('get', 'ns', 'anything'),
      api.kubectl.run('get', 'vci', 'nothing', '-n', 'anything'),
    ])
    expect(object.stderr).toBe('Error from server (NotFound): ownedaccesskeys.management.platform "nobody" not found\n')
    expect(resource.stderr).toBe('error: the server doesn\'t have a resource type "pods"\n')
    expect(rows(namespace.stdout)[0]).toMatchObject({ NAME: 'anything' })
    expect(inNamespace.stderr).toBe(
      'Error from server (NotFound): virtualclusterinstances.management.platform "nothing" not found\n',
    )
  })

  test.concurrent('describe prints an object', async () => {
    const { stdout } = await api.kubectl.run('describe', 'vci', 'stable', '-n', 'p-web')
    expect(stdout.replace(/(Creation Timestamp|Resource Version|UID): .*/g, '$1: …')).toBe(
      `Name:         stable
Namespace:    p-web
Labels:       <none>
Annotations:  <none>
API Version:  management.platform/v1
Kind:         VirtualClusterInstance
Metadata:
  Creation Timestamp: …
  Generation:          1
  Resource Version: …
  UID: …
Spec:
  Access Point:
    Ingress:
      Host:  stable.example.com
  Cluster Ref:
    Cluster:  eu-1
Status:
  Can Use:  true
Events:     <none>
`,
    )
  })

  test.concurrent('a user sees only their own keys and the instances they can use', async () => {
    const [mine, hidden, vci, others] = await Promise.all([
      alice.run('get', 'ownedaccesskeys', '-o', 'name'),
      alice.run('get', 'ownedaccesskey', 'ci'),
      alice.run('get', 'vci', '-A', '-o', 'name'),
      alice.run('describe', 'ownedaccesskey', 'team'),
    ])
    expect(mine.stdout).toBe('ownedaccesskey.management.platform/alice\n')
    expect(hidden.stderr).toBe('Error from server (NotFound): ownedaccesskeys.management.platform "ci" not found\n')
    expect(vci.stdout).toBe('virtualclusterinstance.management.platform/preview\n')
    expect(others.code).toBe(1)
  })

  test.concurrent('wait returns when the phase matches and otherwise times out', async () => {
    const [met, not, gone] = await Promise.all([
      api.kubectl.run('wait', '--for=jsonpath={.status.phase}=Active', 'ownedaccesskey/alice', '--timeout=10s'),
      api.kubectl.run('wait', '--for=jsonpath={.status.phase}=Active', 'ownedaccesskey/ci', '--timeout=100ms'),
      api.kubectl.run('wait', '--for=delete', 'ownedaccesskey/nobody', '--timeout=10s'),
    ])
    expect(met.stdout).toBe('ownedaccesskey.management.platform/alice condition met\n')
    expect(not.stderr).toBe('error: timed out waiting for the condition on ownedaccesskeys/ci\n')
    expect(gone.code).toBe(0)
  })

  // kubectl decodes it from protobuf, as Argo CD does.
  test.concurrent('explain reads OpenAPI v2', async () => {
    const explainPath = (path: string) => api.kubectl.run('explain', path, '--output=plaintext-openapiv2')
    const [spec, list] = await Promise.all([
      explainPath('ownedaccesskeys.spec.ttl'),
      explainPath('vci.spec.access.verbs'),
    ])
    expect([spec.stderr, list.stderr]).toEqual(['', ''])
    expect(spec.stdout).toContain('FIELD:    ttl <integer>')
    expect(list.stdout).toContain('FIELD:    verbs <[]string>')
  })

  test.concurrent('explain shows the documentation of fields', async () => {
    const [scope, status, all] = await Promise.all([
      api.kubectl.run('explain', 'ownedaccesskeys.spec.scope'),
      api.kubectl.run('explain', 'directclusterendpointtokens.status.token'),
      api.kubectl.run('explain', 'vci', '--recursive'),
    ])
    expect(scope.stdout).toMatch(
      /^GROUP: +management.platform\nKIND: +OwnedAccessKey\nVERSION: +v1\n\nFIELD: scope <Object>\n/,
    )
    expect(scope.stdout).toMatch(/Scopes\s+only\s+restrict/)
    for (const field of ['clusters', 'projects', 'roles', 'rules', 'spaces', 'virtualClusters']) {
      expect(scope.stdout).toContain(`  ${field}\t<[]Object>\n`)
    }
    expect(scope.stdout).toContain('Deprecated: use spec.scope.roles.')
    expect(status.stdout).toContain('The issued token, a signed JWT.')
    expect(all.stdout).toContain('        host\t<string>\n')
  })

  test.concurrent('api-resources and api-versions work, also from the cache', async () => {
    const resources = await api.kubectl.run('api-resources', '--api-group=management.platform')
    expect(
      rows(resources.stdout).map(({ NAME, SHORTNAMES, NAMESPACED, KIND }) => [NAME, SHORTNAMES, NAMESPACED, KIND]),
    ).toEqual([
      ['accesskeyrevocations', '', 'false', 'AccessKeyRevocation'],
      ['directclusterendpointtokens', '', 'false', 'DirectClusterEndpointToken'],
      ['federatedidentitycredentials', 'fic', 'false', 'FederatedIdentityCredential'],
      ['identityproviders', 'idp', 'false', 'IdentityProvider'],
      ['ownedaccesskeys', '', 'false', 'OwnedAccessKey'],
      ['selves', '', 'false', 'Self'],
      ['virtualclusterinstances', 'vci', 'true', 'VirtualClusterInstance'],
    ])
    const wide = await api.kubectl.run('api-resources', '--verbs=create,get,list,watch', '-o', 'name')
    expect(wide.stdout.trim().split('\n')).toEqual(
      ['federatedidentitycredentials', 'identityproviders', 'ownedaccesskeys', 'virtualclusterinstances'].map(
        (plural) => `${plural}.management.platform`,
      ),
    )
    const versions = await api.kubectl.run('api-versions')
    const groups = ['apiextensions.k8s.io', 'authentication.k8s.io', 'authorization.k8s.io', 'management.platform']
    expect(versions.stdout).toBe(`${groups.map((group) => `${group}/v1\n`).join('')}v1\n`)
    expect((await api.kubectl.run('get', 'crd')).stderr).toMatch(/^No resources found/)
  })

  test.concurrent('auth whoami prints the user', async () => {
    const { stdout } = await alice.run('auth', 'whoami')
    expect(
      stdout
        .trimEnd()
        .split(/\n/)
        .map((line) => line.split(/ {2,}/)),
    ).toEqual([
      ['ATTRIBUTE', 'VALUE'],
      ['Username', 'alice'],
      ['Groups', '[system:authenticated]'],
      ['Extra: management.platform/access-key', '[alice]'],
    ])
  })

  test.concurrent.each([
    { who: 'admin', args: ['create', 'vci', '-n', 'p-web'], answer: 'yes' },
    { who: 'alice', args: ['create', 'vci', '-n', 'p-web'], answer: 'no' },
    { who: 'alice', args: ['get', 'vci/preview', '-n', 'p-web'], answer: 'yes' },
    { who: 'alice', args: ['get', 'vci/stable', '-n', 'p-web'], answer: 'no' },
    { who: 'alice', args: ['create', 'vci/preview', '--subresource=kubeconfig', '-n', 'p-web'], answer: 'yes' },
    { who: 'alice', args: ['delete', 'ownedaccesskeys/alice'], answer: 'yes' },
    { who: 'alice', args: ['delete', 'ownedaccesskeys/ci'], answer: 'no' },
    { who: 'alice', args: ['*', '*'], answer: 'no' },
    { who: 'admin', args: ['*', '*'], answer: 'yes' },
    { who: 'alice', args: ['get', '/version'], answer: 'yes' },
  ])('auth can-i answers $answer to $who for $args', async ({ who, args, answer }) => {
    const { code, stdout } = await (who === 'admin' ? api.kubectl : alice).run('auth', 'can-i', ...args)
    expect(stdout.split(/\n| - /)[0]).toBe(answer)
    expect(code).toBe(answer === 'yes' ? 0 : 1)
  })

  test.concurrent('auth can-i --list prints the rules', async () => {
    const { code, stdout, stderr } = await alice.run('auth', 'can-i', '--list')
    expect(code).toBe(0)
    expect(stderr).toBe(
      'Warning: the list may be incomplete: access to single objects, such as instances shared with the user, is not listed\n',
    )
    const rules = Object.fromEntries(rows(stdout).map((row) => [row.Resources || row['Non-Resource URLs'], row.Verbs]))
    expect(rules).toMatchObject({
      'directclusterendpointtokens.management.platform': '[create]',
      'selves.management.platform': '[create]',
      '[/version]': '[get]',
    })
    expect(rules['ownedaccesskeys.management.platform']).toContain('list')
    expect(rules['virtualclusterinstances.management.platform']).not.toContain('create')
  })

  test.concurrent('get --raw, version and cluster-info work', async () => {
    const [health, list, version, info] = await Promise.all([
      api.kubectl.run('get', '--raw', api.server.onHost('/healthz')),
      api.kubectl.run('get', '--raw', api.server.onHost(`${keys}?limit=1`)),
      api.kubectl.run('version', '-o', 'json'),
      api.kubectl.run('cluster-info'),
    ])
    expect(health.stdout).toBe('ok')
    expect(JSON.parse(list.stdout)).toMatchObject({ kind: 'OwnedAccessKeyList', items: [{ kind: 'OwnedAccessKey' }] })
    expect(JSON.parse(version.stdout).serverVersion).toMatchObject({ major: '1', minor: '34' })
    // There are no services to show. kubectl must say so and exit.
    expect(info.stderr).not.toMatch(/panic|goroutine/)
  })

  test.concurrent('an unknown key returns Unauthorized', async () => {
    const stranger = await kubectlOf(api.server, `mpk_${'0'.repeat(49)}`)
    try {
      const { code, stderr } = await stranger.run('get', 'ownedaccesskeys')
      expect(code).toBe(1)
      expect(stderr).toContain('You must be logged in to the server')
    } finally {
      await stranger.stop()
    }
  })

  // These tests write, so they run after the others.

  test('get -w shows changes as they happen', async () => {
    const watch = api.kubectl.start('get', 'ownedaccesskeys', '-w', '-l', 'app=watched', '--output-watch-events')
    const json = api.kubectl.start('get', 'ownedaccesskeys', '-w', '-l', 'app=watched', '-o', 'name')
    try {
      await post(keys, key('watched', { user: 'carol' }, { app: 'watched' }))
      await Promise.all([watch.until(/ADDED +watched/), json.until(/watched\n/)])
      const patch = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } }
      await api.server.call(`${keys}/watched`, { ...patch, body: { spec: { disabled: true } } })
      await watch.until(/MODIFIED +watched +carol +true/)
      await api.server.call(`${keys}/watched`, { method: 'DELETE' })
      const printed = await watch.until(/DELETED +watched/)
      expect(rows(printed).map(({ EVENT }) => EVENT)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
    } finally {
      await Promise.all([watch.end(), json.end()])
    }
  })

  test('wait returns when a condition becomes true', async () => {
    await post(instances('p-wait'), instance('slow'))
    const waiting = api.kubectl.run('wait', '--for=condition=Ready', 'vci/slow', '-n', 'p-wait', '--timeout=20s')
    await api.server.call(`${instances('p-wait')}/slow/status`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
    })
    expect((await waiting).stdout).toBe('virtualclusterinstance.management.platform/slow condition met\n')
  })
})
