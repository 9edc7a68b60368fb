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
  })
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

  test.concurrent('api-resources and api-versions work, also from the cache', async () => {
    const { stdout } = await api.kubectl.run('api-resources', '--api-group=management.platform')
    const resources = rows(stdout).map(({ NAME, SHORTNAMES, NAMESPACED }) => `${NAME} ${SHORTNAMES} ${NAMESPACED}`)
    expect(resources).toEqual(expect.arrayContaining(['ownedaccesskeys  false', 'virtualclusterinstances vci true']))
    expect(resources).toHaveLength(9)
    const versions = await api.kubectl.run('api-versions')
    const groups = ['apiextensions.k8s.io', 'authentication.k8s.io', 'authorization.k8s.io', 'management.platform']
    expect(versions.stdout).toBe(`${groups.map((group) => `${group}/v1\n`).join('')}v1\n`)
    expect((await api.kubectl.run('get', 'crd')).stderr).toMatch(/^No resources found/)
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

  // These tests write, so they run after the others.

  test('get -w shows changes as they happen', async () => {
    const watch = api.kubectl.start('get', 'ownedaccesskeys', '-w', '-l', 'app=watched', '--output-watch-events')
    const json = api.kubectl.start('get', 'ownedaccesskeys', '-w', '-l', 'app=watched', '-o', 'name')
    try {
      await post(keys, key('watched', { user: 'carol' }, { app: 'watched' }))
      await Promise.all([watch.until(/ADDED +watched/), json.until(/watched\n/)])
      await api.server.patch(`${keys}/watched`, { spec: { disabled: true } })
      await watch.until(/MODIFIED +watched +carol +true/)
      await api.server.call(`${keys}/watched`, { method: 'DELETE' })
      const printed = await watch.until(/DELETED +watched/)
      expect(rows(printed).map(({ EVENT }) => EVENT)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
    } finally {
      await Promise.all([watch.end(), json.end()])
    }
  })
})
