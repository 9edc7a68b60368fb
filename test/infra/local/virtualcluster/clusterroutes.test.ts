import { describe, expect, test } from 'vitest'
import { CSRS, useVirtualCluster } from '../clustercalls.ts'

const { asManager } = useVirtualCluster()

describe('resources', () => {
  test('returns pods as a list, as a table, by name and by namespace', async () => {
    const list = await asManager('/api/v1/pods')
    expect(list.body).toMatchObject({ kind: 'PodList', items: [{ metadata: { name: 'hello-0' } }, {}] })
    const table = await asManager('/api/v1/namespaces/default/pods?limit=500', {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
    })
    expect(table.body).toMatchObject({ kind: 'Table', rows: [{ cells: ['hello-0', '1/1', 'Running', 0, '0s'] }, {}] })
    expect((await asManager('/api/v1/namespaces/default/pods/hello-1')).body).toMatchObject({ kind: 'Pod' })
    expect((await asManager('/api/v1/namespaces/default/pods/none')).body.message).toBe('pods "none" not found')
    expect((await asManager('/api/v1/namespaces/other/pods')).body.items).toEqual([])
    expect((await asManager('/api/v1/namespaces/default')).body).toMatchObject({ kind: 'Namespace' })
  })

  test.each(['/api', '/apis', '/api/v1', '/apis/certificates.k8s.io', '/apis/certificates.k8s.io/v1'])(
    'discovery at %s',
    async (path) => expect((await asManager(path)).code).toBe(200),
  )

  test.each([
    ['GET', '/api/v1/secrets', 403],
    ['GET', '/apis/none/v1', 404],
    ['GET', '/nothing', 403],
    ['GET', '/apis/authentication.k8s.io/v1/selfsubjectreviews', 403],
    ['POST', '/api/v1/namespaces/default/pods', 403],
    ['PUT', `${CSRS}/x`, 403],
    ['DELETE', CSRS, 403],
    ['GET', `${CSRS}?watch=true`, 403],
    ['GET', '/api/v1/namespaces/%ff/pods', 404],
    ['POST', '/version', 405],
  ])('%s %s returns %d to certificate managers', async (method, path, code) => {
    expect((await asManager(path, { method })).body).toMatchObject({ kind: 'Status', code })
  })
})
