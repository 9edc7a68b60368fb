/** Tests the writing commands of kubectl against the whole API. */
import { expect, test } from 'vitest'
import { describeKubectl, outputOf, useKubectl } from '../support/kubectl.ts'
import { accessKey, instance, instances, keys, management } from '../support/objects.ts'

const key = (name: string, spec: object = {}, metadata: object = {}) =>
  accessKey(name, { user: 'alice', ...spec }, metadata)

describeKubectl('kubectl', () => {
  const api = useKubectl()

  const makeKey = (name: string, spec?: object, metadata?: object) => api.server.make(keys, key(name, spec, metadata))
  const read = async (name: string) => (await api.server.call(`${keys}/${name}`)).json

  test.concurrent('create -f with YAML shows a working key when asked to', async () => {
    const yaml = `
apiVersion: management.platform/v1
kind: OwnedAccessKey
metadata:
  name: ci
spec:
  displayName: CI
  ttl: 1728000
  type: User
  user: alice
`
    const { code, stdout } = await api.kubectl.feed(yaml, 'create', '-f', '-', '-o', 'jsonpath={.spec.key}')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^mpk_[0-9A-Za-z]{49}$/)
    const self = await api.server.call(`${management}/selves`, {
      method: 'POST',
      token: stdout,
      body: { apiVersion: 'management.platform/v1', kind: 'Self' },
    })
    expect(self.json.status).toMatchObject({ subject: 'alice', accessKey: 'ci' })
    expect((await read('ci')).metadata.managedFields[0]).toMatchObject({ manager: 'kubectl-create' })
  })

  test.concurrent('create -f accepts JSON, also with generateName', async () => {
    const file = await api.kubectl.file('json.json', key('json', { ttl: 60 }))
    expect(await api.kubectl.run('create', '-f', file)).toEqual(outputOf('json', 'created'))
    const generated = { ...key(''), metadata: { generateName: 'gen-' } }
    const { stdout } = await api.kubectl.feed(JSON.stringify(generated), 'create', '-f', '-', '-o', 'name')
    expect(stdout).toMatch(/^ownedaccesskey\.management\.platform\/gen-[a-z0-9]{5}\n$/)
  })

  test.concurrent('create -f creates several documents at once', async () => {
    const documents = [key('several'), instance('one', {}, { namespace: 'p-several' })]
    const list = await api.kubectl.file('list.json', { apiVersion: 'v1', kind: 'List', items: documents })
    const { stdout } = await api.kubectl.run('create', '-f', list)
    expect(stdout).toBe(
      'ownedaccesskey.management.platform/several created\nvirtualclusterinstance.management.platform/one created\n',
    )
  })

  test.concurrent('create -f creates kinds that are answered and not stored', async () => {
    const token = `
apiVersion: management.platform/v1
kind: DirectClusterEndpointToken
metadata:
  name: direct
spec:
  ttl: 600
`
    const self = await api.kubectl.file('self.json', { apiVersion: 'management.platform/v1', kind: 'Self' })
    const [issued, plain, who] = await Promise.all([
      api.kubectl.feed(token, 'create', '-f', '-', '-o', 'jsonpath={.status.token}'),
      api.kubectl.feed(token, 'create', '-f', '-'),
      api.kubectl.run('create', '-f', self, '-o', 'jsonpath={.status.subject}'),
    ])
    expect(issued.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(plain.stdout).toBe('directclusterendpointtoken.management.platform/direct created\n')
    expect(who.stdout).toBe('admin')
  })

  test.concurrent('create --raw creates a kube config, which is a subresource', async () => {
    const body = { apiVersion: 'management.platform/v1', kind: 'VirtualClusterInstanceKubeConfig' }
    const file = await api.kubectl.file('kubeconfig.json', { ...body, spec: { server: 'https://vc.example.com' } })
    const owned = instance('vc', { owner: { user: 'admin' } }, { namespace: 'p-raw' })
    expect((await api.server.call(instances('p-raw'), { method: 'POST', body: owned })).status).toBe(201)
    const path = api.server.onHost(`${instances('p-raw')}/vc/kubeconfig`)
    const { stdout, stderr } = await api.kubectl.run('create', '--raw', path, '-f', file)
    expect(stderr).toBe('')
    expect(JSON.parse(stdout).status.kubeConfig).toContain('server: https://vc.example.com')
  })

  test.concurrent('create rejects existing, unknown and invalid objects and says why', async () => {
    await makeKey('taken')
    const wrong = key('wrong', { ttl: -1, type: 'Nonsense', nothing: true })
    const [taken, unknown, dry] = await Promise.all([
      api.kubectl.feed(JSON.stringify(key('taken', { ttl: 60 })), 'create', '-f', '-'),
      api.kubectl.feed(JSON.stringify(wrong), 'create', '-f', '-'),
      api.kubectl.feed(JSON.stringify(wrong), 'create', '-f', '-', '--validate=ignore'),
    ])
    expect(taken.stderr).toBe(
      'Error from server (AlreadyExists): error when creating "STDIN": ownedaccesskeys.management.platform "taken" already exists\n',
    )
    expect(unknown.stderr).toBe(
      'Error from server (BadRequest): error when creating "STDIN": OwnedAccessKey in version "v1" cannot be handled as a OwnedAccessKey: strict decoding error: unknown field "spec.nothing"\n',
    )
    expect(dry.stderr).toContain(
      '* spec.ttl: Invalid value: -1: spec.ttl in body should be greater than or equal to 0\n',
    )
    expect(dry.stderr).toContain('* spec.type: Unsupported value: "Nonsense": supported values: ')
  })

  // kubectl learns from OpenAPI that the server validates fields. Otherwise it would skip validation and warn.
  test.concurrent('apply leaves the validation of fields to the server', async () => {
    const feed = (validate: string) =>
      api.kubectl.feed(
        JSON.stringify(key('misspelt', { ttl: 60, dislayName: 'x' })),
        'apply',
        '-f',
        '-',
        `--validate=${validate}`,
      )
    const strict = await feed('strict')
    expect(strict.stderr).toContain('strict decoding error: unknown field "spec.dislayName"')
    expect(await feed('warn')).toEqual({
      code: 0,
      stdout: 'ownedaccesskey.management.platform/misspelt created\n',
      stderr: 'Warning: unknown field "spec.dislayName"\n',
    })
  })

  test.concurrent('create --dry-run=server stores nothing and shows no key', async () => {
    const { stdout } = await api.kubectl.feed(
      JSON.stringify(key('dry')),
      'create',
      '-f',
      '-',
      '--dry-run=server',
      '-o',
      'json',
    )
    const { metadata, spec } = JSON.parse(stdout)
    expect([metadata.name, spec]).toEqual(['dry', { user: 'alice' }])
    expect((await api.server.call(`${keys}/dry`)).status).toBe(404)
  })

  test.concurrent('replace writes an object once, and then reports a conflict', async () => {
    await makeKey('replaced', { displayName: 'before' })
    const { stdout } = await api.kubectl.run('get', 'ownedaccesskey', 'replaced', '-o', 'json')
    const file = await api.kubectl.file('replaced.json', stdout.replace('before', 'after'))
    expect(await api.kubectl.run('replace', '-f', file)).toEqual(outputOf('replaced', 'replaced'))
    expect((await read('replaced')).spec).toEqual({ user: 'alice', displayName: 'after' })
    const again = await api.kubectl.run('replace', '-f', file)
    expect(again.code).toBe(1)
    expect(again.stderr).toContain(
      'Operation cannot be fulfilled on ownedaccesskeys.management.platform "replaced": the object has been modified; please apply your changes to the latest version and try again',
    )
  })

  test.concurrent('replace works without a resourceVersion and with --force', async () => {
    const { metadata } = await makeKey('forced')
    const file = await api.kubectl.file('forced.json', key('forced', { description: 'new' }))
    expect(await api.kubectl.run('replace', '-f', file)).toEqual(outputOf('forced', 'replaced'))
    const { code, stdout } = await api.kubectl.run('replace', '--force', '-f', file)
    expect(code).toBe(0)
    expect(stdout).toContain('ownedaccesskey.management.platform/forced replaced\n')
    expect((await read('forced')).metadata.uid).not.toBe(metadata.uid)
  })

  test.concurrent('edit sends the edited object', async () => {
    await makeKey('edited', { displayName: 'before', ttl: 60 })
    const editor = (script: string) => api.kubectl.file(`editor-${script.length}`, `#!/bin/sh\n${script}\n`)
    const edit = async (script: string) =>
      api.kubectl.runWith({ EDITOR: await editor(script) }, 'edit', 'ownedaccesskey', 'edited')
    expect(await edit('sed -i "s/displayName: .*/displayName: after/" "$1"')).toEqual(outputOf('edited', 'edited'))
    expect((await read('edited')).spec).toEqual({ user: 'alice', displayName: 'after', ttl: 60 })
    expect((await edit('true')).stderr).toBe('Edit cancelled, no changes made.\n')
    const wrong = await edit('sed -i "s/ttl: .*/ttl: -5/" "$1"')
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toContain('ownedaccesskeys.management.platform "edited" is invalid')
    expect((await read('edited')).spec.ttl).toBe(60)
  })

  test.concurrent('patch sends merge and JSON patches, and a strategic patch returns the supported types', async () => {
    await makeKey('patched', {}, { annotations: { a: 'b' } })
    const patch = (...args: string[]) => api.kubectl.run('patch', 'ownedaccesskey', 'patched', ...args)
    expect(await patch('--type=merge', '-p', '{"spec":{"disabled":true}}')).toEqual(outputOf('patched', 'patched'))
    expect((await patch('--type=merge', '-p', '{"spec":{"disabled":true}}')).stdout).toContain('patched (no change)')
    const operations = [
      { op: 'test', path: '/metadata/annotations/a', value: 'b' },
      { op: 'add', path: '/metadata/annotations/c~1d', value: 'e' },
      { op: 'remove', path: '/spec/disabled' },
    ]
    expect(await patch('--type=json', '-p', JSON.stringify(operations))).toEqual(outputOf('patched', 'patched'))
    const { metadata, spec } = await read('patched')
    expect([metadata.annotations, spec]).toEqual([{ a: 'b', 'c/d': 'e' }, { user: 'alice' }])
    const strategic = await patch('-p', '{"spec":{"disabled":true}}')
    expect([strategic.code, strategic.stderr]).toEqual([
      1,
      'error: application/strategic-merge-patch+json is not supported by management.platform/v1, Kind=OwnedAccessKey: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml\n',
    ])
    const failed = await patch('--type=json', '-p', '[{"op":"test","path":"/spec/user","value":"bob"}]')
    expect([failed.code, failed.stderr]).toEqual([
      1,
      'The request is invalid: the server rejected our request due to an error in our request\n',
    ])
  })

  test.concurrent('patch --subresource=status changes only the status', async () => {
    const body = instance('vc', {}, { namespace: 'p-status' })
    expect((await api.server.call(instances('p-status'), { method: 'POST', body })).status).toBe(201)
    const patch = '{"status":{"phase":"Ready"},"spec":{"displayName":"ignored"}}'
    const target = ['vci', 'vc', '-n', 'p-status']
    const { stdout } = await api.kubectl.run('patch', ...target, '--subresource=status', '--type=merge', '-p', patch)
    expect(stdout).toBe('virtualclusterinstance.management.platform/vc patched\n')
    const shown = await api.kubectl.run(
      'get',
      ...target,
      '--subresource=status',
      '-o',
      'jsonpath={.status.phase}{.spec}',
    )
    expect(shown.stdout).toBe('Ready{}')
  })

  test.concurrent('label and annotate change metadata', async () => {
    await makeKey('labeled')
    const label = (...args: string[]) => api.kubectl.run('label', 'ownedaccesskey', 'labeled', ...args)
    expect(await label('tier=one')).toEqual(outputOf('labeled', 'labeled'))
    expect((await label('tier=two')).stderr).toBe("error: 'tier' already has a value (one), and --overwrite is false\n")
    expect(await label('tier=two', '--overwrite')).toEqual(outputOf('labeled', 'labeled'))
    expect((await read('labeled')).metadata.labels).toEqual({ tier: 'two' })
    expect(await label('tier-')).toEqual(outputOf('labeled', 'unlabeled'))
    const annotated = await api.kubectl.run('annotate', 'ownedaccesskey', 'labeled', 'note=for people')
    expect(annotated).toEqual(outputOf('labeled', 'annotated'))
    const { labels, annotations, generation } = (await read('labeled')).metadata
    expect([labels, annotations, generation]).toEqual([undefined, { note: 'for people' }, 1])
  })

  test.concurrent.each(['background', 'foreground', 'orphan'])(
    'delete --cascade=%s deletes an object without dependents',
    async (cascade) => {
      await makeKey(`cascade-${cascade}`)
      const { code, stdout } = await api.kubectl.run(
        'delete',
        'ownedaccesskey',
        `cascade-${cascade}`,
        `--cascade=${cascade}`,
        '--timeout=20s',
      )
      expect([code, stdout]).toEqual([0, `ownedaccesskey.management.platform "cascade-${cascade}" deleted\n`])
      expect((await api.server.call(`${keys}/cascade-${cascade}`)).status).toBe(404)
    },
  )

  test.concurrent('delete --cascade decides what happens to dependents', async () => {
    const dependents = async (cascade: string) => {
      const { metadata, apiVersion, kind } = await makeKey(`owner-${cascade}`)
      const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, blockOwnerDeletion: true }]
      await makeKey(`dependent-${cascade}`, {}, { ownerReferences })
      await api.kubectl.run('delete', 'ownedaccesskey', metadata.name, `--cascade=${cascade}`, '--timeout=20s')
      return read(`owner-${cascade}`)
    }
    const gone = await Promise.all(['background', 'foreground', 'orphan'].map(dependents))
    expect(gone.map(({ code }) => code)).toEqual([404, 404, 404])
    const background = 'ownedaccesskey/dependent-background'
    await api.kubectl.run('wait', '--for=delete', background, 'ownedaccesskey/dependent-foreground', '--timeout=20s')
    expect((await read('dependent-background')).code).toBe(404)
    expect((await read('dependent-foreground')).code).toBe(404)
    expect((await read('dependent-orphan')).metadata.ownerReferences).toBeUndefined()
  })

  test.concurrent('delete works as a dry run, by label, by file, for a namespace and for a missing object', async () => {
    await Promise.all(['one', 'two'].map((name) => makeKey(`doomed-${name}`, {}, { labels: { doomed: 'yes' } })))
    const dry = await api.kubectl.run('delete', 'ownedaccesskey', 'doomed-one', '--dry-run=server')
    expect(dry.stdout).toBe('ownedaccesskey.management.platform "doomed-one" deleted (server dry run)\n')
    expect((await read('doomed-one')).kind).toBe('OwnedAccessKey')
    const labeled = await api.kubectl.run('delete', 'ownedaccesskeys', '-l', 'doomed=yes')
    expect(labeled.stdout.split('\n').sort()).toEqual([
      '',
      'ownedaccesskey.management.platform "doomed-one" deleted',
      'ownedaccesskey.management.platform "doomed-two" deleted',
    ])
    const bodies = [
      instance('a', {}, { namespace: 'p-doomed' }),
      instance('b', {}, { namespace: 'p-doomed' }),
      instance('c', {}, { namespace: 'p-kept' }),
    ]
    const list = await api.kubectl.file('doomed.json', { apiVersion: 'v1', kind: 'List', items: bodies })
    await api.kubectl.run('create', '-f', list)
    const all = await api.kubectl.run('delete', 'vci', '--all', '-n', 'p-doomed')
    expect(all.stdout.trim().split('\n')).toHaveLength(2)
    const left = await api.kubectl.run('delete', '-f', list)
    expect(left.stdout).toBe('virtualclusterinstance.management.platform "c" deleted\n')
    expect(left.stderr.trim().split('\n')).toHaveLength(2)
    expect(await api.kubectl.run('delete', '-f', list, '--ignore-not-found')).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
  })

  test.concurrent('delete waits for finalizers', async () => {
    await makeKey('held', {}, { finalizers: ['example.com/hold'] })
    const deleting = api.kubectl.start('delete', 'ownedaccesskey', 'held')
    await deleting.until(/deleted/)
    const held = await read('held')
    expect(held.status.phase).toBe('Terminating')
    await api.kubectl.run('patch', 'ownedaccesskey', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
    expect((await read('held')).code).toBe(404)
    await deleting.end()
  })

  test.concurrent('delete --raw deletes an object', async () => {
    await makeKey('raw')
    const { stdout } = await api.kubectl.run('delete', '--raw', api.server.onHost(`${keys}/raw`))
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'Status', status: 'Success', details: { name: 'raw' } })
  })
})
