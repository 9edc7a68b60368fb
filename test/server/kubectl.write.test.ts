/** Tests the writing commands of kubectl against the whole API. */
import { expect, test } from 'vitest'
import { describeKubectl, outputOf, useKubectl } from '../support/kubectl.ts'
import { accessKey, keys, management } from '../support/objects.ts'

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
    const self = await api.server.post(
      `${management}/selves`,
      { apiVersion: 'management.platform/v1', kind: 'Self' },
      stdout,
    )
    expect(self.json.status).toMatchObject({ subject: 'alice', accessKey: 'ci' })
    expect((await read('ci')).metadata.managedFields[0]).toMatchObject({ manager: 'kubectl-create' })
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
})
