/** Tests kubectl apply and diff, client-side and server-side, against the whole API. */
import { expect, test } from 'vitest'
import { describeKubectl, outputOf, useKubectl } from '../support/kubectl.ts'
import { accessKey, cluster, keys } from '../support/objects.ts'

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
        'Warning: access key "client" is no longer restricted by spec.ttl\nWarning: access key "client" never expires and has all permissions of alice\n',
    })
    const { spec, metadata } = await read('client')
    expect(spec).toEqual({ user: 'alice', disabled: true })
    expect(JSON.parse(metadata.annotations[lastApplied]).spec).toEqual({ user: 'alice', disabled: true })
    expect(await managers('client')).toEqual(['kubectl-client-side-apply Update'])
  })

  test.concurrent('a cluster that is applied is ready, has no drift, and can be waited for', async () => {
    const object = cluster('applied', { displayName: 'Applied', access: [{ verbs: ['get', 'use'], teams: ['shop'] }] })
    const name = 'cluster.management.platform/applied'
    const applied = (stdout: string) => ({ code: 0, stdout, stderr: '' })
    expect(await serverSide(object)).toEqual(applied(`${name} serverside-applied\n`))
    const { resourceVersion } = JSON.parse((await api.kubectl.run('get', name, '-o', 'json')).stdout).metadata
    const diff = ['diff', '--server-side', '-f', '-']
    expect(await api.kubectl.feed(JSON.stringify(object), ...diff)).toEqual(applied(''))
    expect(await serverSide(object)).toEqual(applied(`${name} serverside-applied\n`))
    const after = JSON.parse((await api.kubectl.run('get', name, '-o', 'json')).stdout).metadata
    expect(after.resourceVersion).toBe(resourceVersion)
    const waited = await api.kubectl.run('wait', name, '--for=jsonpath={.status.canUse}=true')
    expect(waited).toEqual(applied(`${name} condition met\n`))
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
})
