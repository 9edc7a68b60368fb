/** Sends objects of kinds that have nothing to do with keys, with each member that every object has set to what it should not be. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { Lamp, Note } from '../../../lib/engine/example/kinds.ts'
import { serve } from '../../../lib/engine/example/serve.ts'
import type { StoredKind } from '../../../lib/engine/registry/kind.ts'
import type { Json } from '../../support/functions.ts'
import { commonPaths, failureIn, WRONG, withMember } from '../../support/hostilemembers.ts'
import { createMemoryItems } from '../../support/memoryitems.ts'

let base: string
beforeAll(async () => {
  const server = serve([Note, Lamp], createMemoryItems(Date.now)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return () => void server.close().closeAllConnections()
})

async function send(method: string, path: string, type = 'json', body?: Json) {
  const headers = { 'content-type': `application/${type}` }
  const answer = await fetch(`${base}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return { status: answer.status, json: (await answer.json()) as Json }
}

const placeOf = ({ group, version, scope, plural }: StoredKind) =>
  `/apis/${group}/${version}${scope === 'Namespaced' ? '/namespaces/hall' : ''}/${plural}`

let made = 0
const objectOf = ({ group, version, kind }: StoredKind, name: string): Json => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: { name },
  spec: kind === Note.kind ? { text: 'milk' } : { on: true },
})

interface Wrong {
  kind: StoredKind
  path: readonly string[]
  value: unknown
  /** The stored object. */
  live: Json
}

const APPLY = '?fieldManager=tester&force=true&fieldValidation=Ignore'

/** The ways to write an object, each with one member that is wrong. */
const ways: Readonly<Record<string, (wrong: Wrong) => ReturnType<typeof send>>> = {
  create: ({ kind, path, value }) =>
    send('POST', placeOf(kind), 'json', withMember(objectOf(kind, `new-${++made}`), path, value)),
  'create in YAML': ({ kind, path, value }) =>
    send('POST', placeOf(kind), 'yaml', withMember(objectOf(kind, `new-${++made}`), path, value)),
  update: ({ kind, path, value, live }) =>
    send('PUT', `${placeOf(kind)}/${live.metadata.name}`, 'json', withMember(live, path, value)),
  'JSON patch': ({ kind, path, value, live }) => {
    const [top = ''] = path
    const changed = withMember(live, path, value)[top]
    const operation = changed === undefined ? { op: 'remove' } : { op: 'add', value: changed }
    const at = `${placeOf(kind)}/${live.metadata.name}`
    return send('PATCH', at, 'json-patch+json', [{ ...operation, path: `/${top}` }])
  },
  'merge patch': ({ kind, path, value, live }) =>
    send('PATCH', `${placeOf(kind)}/${live.metadata.name}`, 'merge-patch+json', withMember({}, path, value ?? null)),
  apply: ({ kind, path, value, live }) => {
    const body = withMember(objectOf(kind, live.metadata.name), path, value)
    return send('PATCH', `${placeOf(kind)}/${live.metadata.name}${APPLY}`, 'apply-patch+yaml', body)
  },
}

// threat: gateway-10
test.each([Note, Lamp].flatMap((kind) => Object.keys(ways).map((way) => [kind.kind, way, kind] as const)))(
  'a wrong member of a %s is no failure of the server, and a refused %s changes nothing',
  async (_, way, kind) => {
    const name = `live-${++made}`
    const at = `${placeOf(kind)}/${name}`
    let { json: live } = await send('POST', placeOf(kind), 'json', objectOf(kind, name))
    for (const path of commonPaths)
      for (const value of WRONG) {
        const answer = await ways[way]?.({ kind, path, value, live })
        const what = `${path.join('.')}=${JSON.stringify(value)}`
        expect([what, answer && failureIn(answer)]).toEqual([what, undefined])
        const { json: now } = await send('GET', at)
        if (answer && answer.status >= 400) {
          expect([what, answer.json]).toEqual([what, expect.objectContaining({ kind: 'Status', status: 'Failure' })])
          expect([what, now]).toEqual([what, live])
        }
        live = now
      }
  },
)
