/** Tests kubectl apply and diff, client-side and server-side, against the whole API. */
import { expect, test } from 'vitest'
import { describeKubectl, outputOf, useKubectl } from '../support/kubectl.ts'
import { accessKey, keys } from '../support/objects.ts'

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

describeKubectl('kubectl', () => {
  const api = useKubectl()

  const apply = async (object: object, ...args: string[]) =>
    api.kubectl.feed(JSON.stringify(object), 'apply', '-f', '-', ...args)
  const serverSide = (object: object, ...args: string[]) => apply(object, '--server-side', ...args)
  const read = async (name: string) => (await api.server.call(`${keys}/${name}`)).json
  const managers = async (name: string): Promise<string[]> =>
    (await read(name)).metadata.managedFields.map(
      ({ manager, operation }: { manager: string; operation: string }) => `${manager} ${operation}`,
    )

  test.concurrent('client-side apply creates, changes nothing, changes and removes fields', async () => {
    expect(await apply(accessKey('client', { user: 'alice', ttl: 60 }))).toEqual(outputOf('client', 'created'))
    expect(await apply(accessKey('client', { user: 'alice', ttl: 60 }))).toEqual(outputOf('client', 'unchanged'))
    expect(await apply(accessKey('client', { user: 'alice', disabled: true }))).toEqual({
      ...outputOf('client', 'configured'),
      stderr:
        'Warning: access key "client" is no longer restricted by spec.ttl\nWarning: access key "client" never expires and has every right of alice\n',
    })
    const { spec, metadata } = await read('client')
    expect(spec).toEqual({ user: 'alice', disabled: true })
    expect(JSON.parse(metadata.annotations[lastApplied]).spec).toEqual({ user: 'alice', disabled: true })
    expect(await managers('client')).toEqual(['kubectl-client-side-apply Update'])
  })

  test.concurrent('client-side apply adopts an object that was created otherwise', async () => {
    await api.server.call(keys, {
      method: 'POST',
      body: accessKey('adopted', { user: 'alice', description: 'by hand' }),
    })
    const { stdout, stderr } = await apply(accessKey('adopted', { user: 'alice', ttl: 5 }))
    expect(stdout).toBe('ownedaccesskey.management.platform/adopted configured\n')
    expect(stderr).toContain(`is missing the ${lastApplied} annotation`)
    expect((await read('adopted')).spec).toEqual({ user: 'alice', description: 'by hand', ttl: 5 })
  })

  test.concurrent('apply view-last-applied, edit-last-applied and set-last-applied work', async () => {
    await apply(accessKey('last', { user: 'alice' }))
    const { stdout } = await api.kubectl.run('apply', 'view-last-applied', 'ownedaccesskey', 'last', '-o', 'json')
    expect(JSON.parse(stdout).spec).toEqual({ user: 'alice' })
    const file = await api.kubectl.file('last.json', accessKey('last', { user: 'alice', ttl: 7 }))
    const set = await api.kubectl.run('apply', 'set-last-applied', '-f', file)
    expect(set.stderr + set.stdout).toContain('ownedaccesskey.management.platform/last configured')
    expect(JSON.parse((await read('last')).metadata.annotations[lastApplied]).spec.ttl).toBe(7)
  })

  test.concurrent('apply --prune removes objects that are no longer applied', async () => {
    const labels = { set: 'pruned' }
    const both = [accessKey('pruned-a', {}, { labels }), accessKey('pruned-b', {}, { labels })]
    await apply({ apiVersion: 'v1', kind: 'List', items: both })
    const args = ['--prune', '-l', 'set=pruned', '--prune-allowlist=management.platform/v1/OwnedAccessKey']
    const { stdout } = await apply({ apiVersion: 'v1', kind: 'List', items: both.slice(0, 1) }, ...args)
    expect(stdout).toBe(
      'ownedaccesskey.management.platform/pruned-a unchanged\nownedaccesskey.management.platform/pruned-b pruned\n',
    )
  })

  test.concurrent('diff shows the changes of an apply without making them', async () => {
    await apply(accessKey('differs', { user: 'alice', displayName: 'before' }))
    const diff = (object: object, ...args: string[]) =>
      api.kubectl.feed(JSON.stringify(object), 'diff', '-f', '-', ...args)
    const changed = accessKey('differs', { user: 'alice', displayName: 'after' })
    const [same, other, serversSide] = await Promise.all([
      diff(accessKey('differs', { user: 'alice', displayName: 'before' })),
      diff(changed),
      diff(changed, '--server-side', '--force-conflicts'),
    ])
    expect(same).toEqual({ code: 0, stdout: '', stderr: '' })
    for (const { code, stdout } of [other, serversSide]) {
      expect(code).toBe(1)
      expect(stdout.split('\n').filter((line) => /^[-+] +\w/.test(line))).toEqual([
        '-  generation: 1',
        '+  generation: 2',
        '-  displayName: before',
        '+  displayName: after',
      ])
    }
    expect((await read('differs')).spec.displayName).toBe('before')
    const fresh = await diff(accessKey('fresh', { user: 'alice' }))
    expect(fresh.code).toBe(1)
    // An object that does not exist has no key yet.
    expect(fresh.stdout).not.toContain('key:')
  })

  test.concurrent('server-side apply shows the key only on creation and removes omitted fields', async () => {
    const { stdout } = await serverSide(accessKey('server', { user: 'alice', ttl: 60 }), '-o', 'json')
    expect(JSON.parse(stdout).spec.key).toMatch(/^mpk_/)
    const { metadata } = await read('server')
    expect(await serverSide(accessKey('server', { user: 'alice', ttl: 60 }))).toEqual(
      outputOf('server', 'serverside-applied'),
    )
    expect((await read('server')).metadata.resourceVersion).toBe(metadata.resourceVersion)
    await serverSide(accessKey('server', { user: 'alice' }))
    const after = await read('server')
    expect([after.spec, after.metadata.annotations]).toEqual([{ user: 'alice' }, undefined])
    expect(await managers('server')).toEqual(['kubectl Apply'])
  })

  test.concurrent('a server-side conflict names the manager and the field, and can be forced', async () => {
    await serverSide(accessKey('contested', { user: 'alice', displayName: 'mine' }))
    const other = accessKey('contested', { displayName: 'theirs' })
    const { code, stderr } = await serverSide(other, '--field-manager=other')
    expect(code).toBe(1)
    expect(stderr.split('\n')[0]).toBe(
      'error: Apply failed with 1 conflict: conflict with "kubectl": .spec.displayName',
    )
    const forced = await serverSide(other, '--field-manager=other', '--force-conflicts')
    expect(forced).toEqual(outputOf('contested', 'serverside-applied'))
    expect((await read('contested')).spec).toEqual({ user: 'alice', displayName: 'theirs' })
    expect((await managers('contested')).sort()).toEqual(['kubectl Apply', 'other Apply'])
    const back = await serverSide(accessKey('contested', { user: 'alice', displayName: 'mine' }))
    expect(back.stderr).toContain('conflict with "other": .spec.displayName')
  })

  test.concurrent('two appliers cannot widen a scope together, because lists have no merge keys', async () => {
    const scopedKey = (project: string) => accessKey('scoped', { user: 'alice', scope: { projects: [{ project }] } })
    await serverSide(scopedKey('web'))
    const { stderr } = await serverSide(scopedKey('shop'), '--field-manager=other')
    expect(stderr).toContain('conflict with "kubectl": .spec.scope.projects\n')
    await serverSide(scopedKey('shop'), '--field-manager=other', '--force-conflicts')
    expect((await read('scoped')).spec.scope).toEqual({ projects: [{ project: 'shop' }] })
  })

  test.concurrent('switching from client-side to server-side apply transfers fields, which can then be removed', async () => {
    await apply(accessKey('migrated', { user: 'alice', ttl: 60 }))
    expect(await serverSide(accessKey('migrated', { user: 'alice', ttl: 60 }))).toEqual(
      outputOf('migrated', 'serverside-applied'),
    )
    // kubectl itself keeps the annotation of client-side apply, under a separate manager.
    expect(await managers('migrated')).toEqual(['kubectl Apply', 'kubectl-last-applied Apply'])
    await serverSide(accessKey('migrated', { user: 'alice' }))
    expect((await read('migrated')).spec).toEqual({ user: 'alice' })
  })

  test.concurrent('switching back to client-side apply works', async () => {
    await serverSide(accessKey('returned', { user: 'alice', ttl: 60 }))
    const { code } = await apply(accessKey('returned', { user: 'alice', ttl: 90 }))
    expect(code).toBe(0)
    expect((await read('returned')).spec).toEqual({ user: 'alice', ttl: 90 })
  })

  test.concurrent('server-side apply shows what the kind rejects', async () => {
    const { code, stderr } = await serverSide(accessKey('refused', { type: 'Nonsense' }))
    expect(code).toBe(1)
    expect(stderr).toContain('spec.type: Unsupported value: "Nonsense"')
    const unknown = await serverSide(accessKey('refused', { nothing: 1 }))
    expect(unknown.stderr).toContain('.spec.nothing: field not declared in schema')
    expect((await read('refused')).code).toBe(404)
  })

  test.concurrent('dry runs of both kinds of apply change nothing', async () => {
    const both = [
      await apply(accessKey('dry'), '--dry-run=server'),
      await serverSide(accessKey('dry'), '--dry-run=server'),
    ]
    expect(both.map(({ stdout }) => stdout)).toEqual([
      'ownedaccesskey.management.platform/dry created (server dry run)\n',
      'ownedaccesskey.management.platform/dry serverside-applied (server dry run)\n',
    ])
    expect((await read('dry')).code).toBe(404)
  })
})
