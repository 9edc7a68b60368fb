/** Sends objects of a kind that has nothing to do with keys, with each member that every object has set to what it should not be. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { Note } from '../../../lib/engine/example/kinds.ts'
import { serve } from '../../../lib/engine/example/serve.ts'
import type { Json } from '../../support/functions.ts'
import { commonPaths, failureIn, WRONG, withMember } from '../../support/hostilemembers.ts'
import { createMemoryItems } from '../../support/memoryitems.ts'

let base: string
beforeAll(async () => {
  const server = serve([Note], createMemoryItems(Date.now)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return () => void server.close().closeAllConnections()
})

async function send(method: string, path: string, type = 'json', body?: Json) {
  const headers = { 'content-type': `application/${type}` }
  const answer = await fetch(`${base}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return { status: answer.status, json: (await answer.json()) as Json }
}

const place = `/apis/${Note.group}/${Note.version}/namespaces/hall/${Note.plural}`

let made = 0
const objectOf = (name: string): Json => ({
  apiVersion: `${Note.group}/${Note.version}`,
  kind: Note.kind,
  metadata: { name },
  spec: { text: 'milk' },
})

interface Wrong {
  path: readonly string[]
  value: unknown
  /** The stored object. */
  live: Json
}

const APPLY = '?fieldManager=tester&force=true&fieldValidation=Ignore'

/** The ways to write an object, each with one member that is wrong. */
const ways: Readonly<Record<string, (wrong: Wrong) => ReturnType<typeof send>>> = {
  create: ({ path, value }) => send('POST', place, 'json', withMember(objectOf(`new-${++made}`), path, value)),
  'create in YAML': ({ path, value }) =>
    send('POST', place, 'yaml', withMember(objectOf(`new-${++made}`), path, value)),
  update: ({ path, value, live }) =>
    send('PUT', `${place}/${live.metadata.name}`, 'json', withMember(live, path, value)),
  'JSON patch': ({ path, value, live }) => {
    const [top = ''] = path
    const changed = withMember(live, path, value)[top]
    const operation = changed === undefined ? { op: 'remove' } : { op: 'add', value: changed }
    const at = `${place}/${live.metadata.name}`
    return send('PATCH', at, 'json-patch+json', [{ ...operation, path: `/${top}` }])
  },
  'merge patch': ({ path, value, live }) =>
    send('PATCH', `${place}/${live.metadata.name}`, 'merge-patch+json', withMember({}, path, value ?? null)),
  apply: ({ path, value, live }) => {
    const body = withMember(objectOf(live.metadata.name), path, value)
    return send('PATCH', `${place}/${live.metadata.name}${APPLY}`, 'apply-patch+yaml', body)
  },
}

// threat: gateway-10
test.each(Object.keys(ways))(
  'a wrong member is no failure of the server, and a refused %s changes nothing',
  async (way) => {
    const name = `live-${++made}`
    const at = `${place}/${name}`
    let { json: live } = await send('POST', place, 'json', objectOf(name))
    for (const path of commonPaths)
      for (const value of WRONG) {
        const answer = await ways[way]?.({ path, value, live })
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
