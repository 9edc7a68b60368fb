/** Tests managedFields and server-side apply with scripts of writes, against recorded responses of kube-apiserver 1.34.4. */
import { describe, expect, it } from 'vitest'
import type { StatusError } from '../../../../../lib/engine/meta/errors/status.ts'
import {
  sameButForTimes,
  serverSideApply,
  updateManagers,
} from '../../../../../lib/engine/meta/managedfields/fieldmanager.ts'
import { list, map, object, string } from '../../../../../lib/engine/meta/schema/schema.ts'
import { wholeObject } from '../../../../../lib/engine/meta/structuredmerge/typed.ts'
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../../../../../lib/engine/meta/types.ts'
import { type Operation, play, type Step, thing, thingKind } from '../thing.ts'
import cases from './vectors/fieldmanager.cases.json' with { type: 'json' }

type Content = { metadata?: JsonObject; spec?: JsonObject; status?: JsonObject }
type More = Partial<Pick<Operation, 'force' | 'subresource'>>

const whole = ({ metadata, ...content }: Content): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'n', ...metadata },
  ...content,
})
const applyBy = (manager: string, content: Content, more: More = {}): Operation => ({
  verb: 'apply',
  manager,
  object: whole(content),
  ...more,
})
const updateBy = (manager: string, content: Content, more: More = {}): Operation => ({
  verb: 'update',
  manager,
  object: whole(content),
  ...more,
})

const last = (...script: Operation[]): Step => play(script).at(-1) ?? {}

/** `manager/operation/subresource@seconds {fields}` of each entry; the nth write happens at 10·n seconds. */
const owners = (step: Step): string[] =>
  (step.object?.metadata.managedFields ?? []).map(({ manager, operation, subresource = '', time, fieldsV1 }) => {
    const at = time === undefined ? '' : `@${Number(time.slice(17, 19)) + 60 * Number(time.slice(14, 16))}`
    const fields = JSON.stringify(fieldsV1).replaceAll('":{}', '').replaceAll('"', '')
    return `${manager}/${operation}/${subresource}${at} ${fields}`
  })

describe('create and update', () => {
  it('own the fields that they add, including containers, but no identity fields', () => {
    const metadata = {
      labels: { l: '1' },
      finalizers: ['x/y'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'o', uid: '1' }],
    }
    expect(owners(last(updateBy('c', { metadata, spec: { text: 'one', texts: ['a'], nested: { a: 'a' } } })))).toEqual([
      'c/Update/@10 {f:metadata:{f:finalizers:{.,v:\\x/y\\},f:labels:{.,f:l},f:ownerReferences:{.,k:{\\uid\\:\\1\\}}},' +
        'f:spec:{.,f:nested:{.,f:a},f:text,f:texts:{.,v:\\a\\}}}',
    ])
  })

  it('take changed fields from other managers and remove deleted fields from all', () => {
    const first = updateBy('creator', { metadata: { labels: { l: '1' } }, spec: { text: 'one', nested: { a: 'a' } } })
    const second = updateBy('updater', { metadata: { labels: { l: '2' } }, spec: { text: 'one' } })
    expect(owners(last(first, second))).toEqual([
      'creator/Update/@10 {f:metadata:{f:labels},f:spec:{.,f:text}}',
      'updater/Update/@20 {f:metadata:{f:labels:{f:l}}}',
    ])
  })

  it('keep the time when they only remove fields, and own nothing when they change nothing', () => {
    const first = updateBy('c', { spec: { text: 'one', flag: true } })
    expect(owners(last(first, updateBy('d', { spec: { text: 'one', flag: true } })))).toHaveLength(1)
    expect(owners(last(first, updateBy('c', { spec: { text: 'one' } })))).toEqual(['c/Update/@10 {f:spec:{.,f:text}}'])
  })

  it('leave an untracked object untracked until the first apply', () => {
    const cleared = updateBy('x', { metadata: { managedFields: [{}] }, spec: { text: 'one' } })
    const script = [updateBy('c', { spec: { text: 'one' } }), cleared, updateBy('after', { spec: { text: 'two' } })]
    expect(owners(last(...script))).toEqual([])
    expect(owners(last(...script, applyBy('a', { spec: { flag: true } })))).toEqual([
      'a/Apply/@40 {f:spec:{f:flag}}',
      'before-first-apply/Update/@40 {f:spec:{.,f:text}}',
    ])
    expect(last(...script, applyBy('a', { spec: { text: 'x' } })).error).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.text',
    )
  })

  it('use the name unknown for a manager without a name', () =>
    expect(owners(last(updateBy('', { spec: {} })))).toEqual(['unknown/Update/@10 {f:spec}']))

  it('stop tracking when a value has a type other than its schema, stored or not', () => {
    const create = updateBy('c', { spec: { text: 'one' } })
    const status = updateBy('c', { spec: { text: 5 }, status: { phase: 'x' } }, { subresource: 'status' })
    expect(owners(last(create, status))).toEqual([])
    expect(owners(last(updateBy('c', { spec: { text: 'one' }, status: { phase: 5 } })))).toEqual([])
    expect(owners(last(updateBy('c', { spec: { texts: ['a', 'a'] } })))).toHaveLength(1)
  })

  it('record status writes separately, including the metadata that is not stored', () => {
    const status = updateBy(
      'c',
      { metadata: { labels: { l: '1' } }, status: { phase: 'x' } },
      { subresource: 'status' },
    )
    expect(owners(last(updateBy('c', { spec: { text: 'one' } }), status))).toEqual([
      'c/Update/@10 {f:spec:{.,f:text}}',
      'c/Update/status@20 {f:metadata:{f:labels:{.,f:l}},f:status:{.,f:phase}}',
    ])
    const main = updateBy('m', { spec: { text: 'one' }, status: { phase: 'y' } })
    expect(owners(last(updateBy('c', { spec: { text: 'one' } }), status, main))).toHaveLength(2)
  })
})

describe('managedFields in a request', () => {
  const entry = {
    manager: 'hand',
    operation: 'Update',
    apiVersion: 'example.com/v1',
    time: '2020-02-02T04:02:02+02:00',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:text': {} } },
  }
  const create = updateBy('c', { spec: { text: 'one' } })
  const managersAfter = (...managedFields: JsonObject[]) =>
    play([create, updateBy('p', { metadata: { managedFields }, spec: { text: 'one' } })]).at(-1)?.object?.metadata
      .managedFields

  it('replace the stored ones if they are valid, in UTC', () =>
    expect(managersAfter(entry)).toEqual([{ ...entry, time: '2020-02-02T02:02:02Z' }]))

  it('are kept on creation, in addition to the creator', () => {
    const { time: _, ...timeless } = entry
    const created = updateBy('c', { metadata: { managedFields: [timeless] }, spec: { text: 'one', flag: true } })
    expect(owners(last(created))).toEqual(['c/Update/@10 {f:spec:{.,f:flag,f:text}}'])
    const other = { ...timeless, fieldsV1: { 'f:spec': { 'f:number': {} } } }
    expect(owners(last(updateBy('c', { metadata: { managedFields: [other] }, spec: { text: 'one' } })))).toEqual([
      'hand/Update/ {f:spec:{f:number}}',
      'c/Update/@10 {f:spec:{.,f:text}}',
    ])
  })

  it.each<[string, JsonObject]>([
    ['an unknown operation', { ...entry, operation: 'Sing' }],
    ['no version', { ...entry, apiVersion: '' }],
    ['an unknown type of fields', { ...entry, fieldsType: 'FieldsV2' }],
    ['no type of fields', { ...entry, fieldsType: null }],
    ['invalid fields', { ...entry, fieldsV1: { spec: {} } }],
    ['an invalid time', { ...entry, time: 'yesterday' }],
    ['a manager that is not a string', { ...entry, manager: 5 }],
    ['a field __proto__', { ...entry, fieldsV1: { 'f:__proto__': {} } }],
  ])('are ignored with %s', (_, broken) => {
    expect(managersAfter(entry, broken)?.map(({ manager }) => manager)).toEqual(['c'])
  })

  it('are ignored on subresources and if the list is empty', () => {
    const status = updateBy(
      's',
      { metadata: { managedFields: [{}] }, status: { phase: 'x' } },
      { subresource: 'status' },
    )
    expect(owners(last(create, status))).toHaveLength(2)
    expect(managersAfter()?.map(({ manager }) => manager)).toEqual(['c'])
    expect(managersAfter({}, entry)?.map(({ manager }) => manager)).toEqual(['c'])
  })

  it('are all dropped if one entry has a version that is not served', () =>
    expect(managersAfter(entry, { ...entry, manager: 'old', apiVersion: 'example.com/v0' })).toBeUndefined())

  it('replace the stored ones even if they own nothing', () =>
    expect(managersAfter({ ...entry, fieldsV1: {} })).toBeUndefined())

  it('own atomic lists and maps as a whole', () => {
    const fieldsV1 = { 'f:spec': { 'f:atomicList': { 'v:"a"': {} }, 'f:atomicMap': { '.': {}, 'f:a': {} } } }
    expect(managersAfter({ ...entry, fieldsV1 })?.[0]?.fieldsV1).toEqual({
      'f:spec': { 'f:atomicList': {}, 'f:atomicMap': {} },
    })
  })
})

describe('more than ten Update managers', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      updateBy(`m${10 + i}`, {
        spec: { map: Object.fromEntries(Array.from({ length: i + 1 }, (_, k) => [`k${k}`, 'v'])) },
      }),
    )

  it('are merged into ancient-changes, starting with the oldest', () => {
    expect(owners(last(...many(10)))).toHaveLength(10)
    expect(owners(last(...many(12))).slice(0, 2)).toEqual([
      'ancient-changes/Update/@30 {f:spec:{.,f:map:{.,f:k0,f:k1,f:k2}}}',
      'm13/Update/@40 {f:spec:{f:map:{f:k3}}}',
    ])
  })

  it('do not count Apply managers', () => {
    const list = owners(last(...many(10), applyBy('a', { spec: { flag: true } })))
    expect([list.length, list[0]]).toEqual([11, 'a/Apply/@110 {f:spec:{f:flag}}'])
  })

  it('never lose fields, even if ancient-changes is younger than the oldest', () => {
    const entries = [...'a', ...Array.from({ length: 9 }, (_, i) => `b${i}`), 'ancient-changes'].map((manager, i) => ({
      manager,
      operation: 'Update',
      apiVersion: 'example.com/v1',
      time: '2000-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:map': { [`f:k${i}`]: {} } } },
    }))
    for (const managedFields of [entries, entries.toReversed(), [entries.at(-1) ?? {}, ...entries.slice(0, 10)]]) {
      const list = owners(last(updateBy('z', { metadata: { managedFields }, spec: { text: 'a' } })))
      expect(list).toHaveLength(10)
      for (let i = 0; i <= 10; i++) expect(list.join()).toContain(`f:k${i}`)
    }
  })
})

describe('apply', () => {
  it('creates, then does nothing, then removes omitted fields', () => {
    const one = applyBy('m1', { metadata: { labels: { l: '1' } }, spec: { text: 'one', nested: { a: 'u' } } })
    const steps = play([one, one, applyBy('m1', { metadata: { labels: { l: '1' } }, spec: { nested: { a: 'u' } } })])
    expect(owners(steps[0] ?? {})).toEqual([
      'm1/Apply/@10 {f:metadata:{f:labels:{f:l}},f:spec:{f:nested:{f:a},f:text}}',
    ])
    expect(steps[1]).toEqual(steps[0])
    expect(steps[2]?.object?.spec).toEqual({ nested: { a: 'u' } })
    expect(owners(steps[2] ?? {})[0]).toContain('@30')
  })

  it('shares ownership of equal values, and sets no time if only ownership changes', () => {
    const script = [applyBy('m1', { spec: { text: 'a', flag: true } }), applyBy('m2', { spec: { text: 'a' } })]
    expect(owners(last(...script))).toEqual(['m2/Apply/ {f:spec:{f:text}}', 'm1/Apply/@10 {f:spec:{f:flag,f:text}}'])
    const left = last(...script, applyBy('m1', {}))
    expect(left.object?.spec).toEqual({ text: 'a' })
    expect(owners(left)).toEqual(['m2/Apply/ {f:spec:{f:text}}'])
    expect(last(...script, applyBy('m1', {}), applyBy('m2', {})).object).not.toHaveProperty('spec')
  })

  it('lists all conflicts by manager', () => {
    const script = [applyBy('m1', { spec: { text: 'a', number: 1, texts: ['x'] } })]
    expect(last(...script, applyBy('m2', { spec: { text: 'b' } }))).toEqual({
      error: 'Apply failed with 1 conflict: conflict with "m1": .spec.text',
      causes: [['conflict with "m1"', '.spec.text']],
    })
    const more = [...script, updateBy('é"', { spec: { text: 'a', number: 2, texts: ['x'] } })]
    expect(last(...more, applyBy('m2', { spec: { text: 'b', number: 3 } })).error).toBe(
      'Apply failed with 2 conflicts: conflicts with "m1":\n- .spec.text\n' +
        'conflicts with "é\\"" using example.com/v1:\n- .spec.number',
    )
  })

  it('includes the subresource of a conflict and the keys of its path in messages', () => {
    const status = (manager: string, value: string): Operation =>
      applyBy(manager, { status: { conditions: [{ type: 'Ready', status: value }] } }, { subresource: 'status' })
    const create = updateBy('c', { spec: {} })
    expect(last(create, status('c1', 'True'), status('c2', 'False')).error).toBe(
      'Apply failed with 1 conflict: conflict with "c1" with subresource "status": .status.conditions[type="Ready"].status',
    )
  })

  it('conflicts with its own updates, and takes over with force', () => {
    const script = [applyBy('same', { spec: { text: 'one' } }), updateBy('same', { spec: { text: 'two' } })]
    const third = applyBy('same', { spec: { text: 'three' } })
    expect(last(...script, third).error).toContain('conflict with "same" using example.com/v1: .spec.text')
    expect(owners(last(...script, { ...third, force: true }))).toEqual(['same/Apply/@30 {f:spec:{f:text}}'])
  })

  it('owns an empty spec as a leaf', () => {
    const script = [updateBy('c', { spec: { text: 'd' } }), applyBy('m', { spec: {} })]
    expect(owners(last(...script))).toEqual(['m/Apply/ {f:spec}', 'c/Update/@10 {f:spec:{.,f:text}}'])
  })

  it('merges sets and map lists in the applied order', () => {
    const finalizers = (manager: string, ...names: string[]) => applyBy(manager, { metadata: { finalizers: names } })
    const sets = last(finalizers('f1', 'a', 'b'), finalizers('f2', 'c', 'b'))
    expect(sets.object?.metadata.finalizers).toEqual(['a', 'c', 'b'])
    const applyItems = (manager: string, ...names: string[]) =>
      applyBy(manager, { spec: { byName: names.map((name) => ({ name })) } })
    const lists = last(applyItems('f1', 'A', 'B'), applyItems('f2', 'C', 'A'))
    expect(lists.object?.spec?.byName).toEqual([{ name: 'C' }, { name: 'A' }, { name: 'B' }])
  })

  it('removes empty metadata, and sets a container that others own to null', () => {
    const gone = last(applyBy('f1', { metadata: { finalizers: ['a'] } }), applyBy('f1', {}))
    expect(gone.object).toEqual({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'n', uid: 'u' } })
    const script = [
      updateBy('u', { spec: { nested: { deep: {} } } }),
      applyBy('m', { spec: { nested: { deep: { a: 'a' } } } }),
    ]
    const live = last(...script).object
    const [subresource, now] = ['' as const, new Date()]
    const write = { live, manager: 'm', subresource, now, gvk: thingKind, schema: thing }
    const emptied = serverSideApply({ ...write, config: whole({}), force: false })
    expect(emptied.spec).toEqual({ nested: { deep: null } })
  })

  it('neither stores nor owns spec on the status subresource', () => {
    const status = applyBy('s', { spec: { text: 'no' }, status: { phase: 'x' } }, { subresource: 'status' })
    const step = last(updateBy('c', { spec: { text: 'one' } }), status)
    expect(step.object).toMatchObject({ spec: { text: 'one' }, status: { phase: 'x' } })
    expect(owners(step)[0]).toBe('s/Apply/status@20 {f:status:{f:phase}}')
  })

  const refusal = (config: JsonObject): StatusError['status'] => {
    try {
      serverSideApply({ ...bare, live: undefined, config, manager: 'm', force: false })
    } catch (error) {
      return (error as StatusError).status
    }
    throw new Error('was not refused')
  }

  it.each(cases.refused as [string, number, JsonObject][])('rejects with %s', (message, code, config) => {
    const kind = config.kind === 'Thing' ? { kind: 'Secretive' } : {}
    expect(refusal({ ...config, ...kind })).toMatchObject({ message, code })
  })

  it.each([[[{}, null]], [[{ time: 'bad' }]]])('treats invalid stored managers as absent: %j', (managedFields) => {
    const config = { ...whole({}), kind: 'Secretive', metadata: { name: 'n', managedFields } }
    const object = serverSideApply({ ...bare, live: undefined, config, manager: 'm', force: false })
    expect(object.metadata).toEqual({ name: 'n' })
  })
})

const secretive = wholeObject({
  spec: object('', {
    name: string(''),
    key: string('', { writeOnly: 'once' }),
    login: object('', { user: string(''), token: string('', { writeOnly: 'never' }) }),
    tokens: map('', string('', { writeOnly: 'never' })),
    secrets: list('', object('', { id: string(''), value: string('', { writeOnly: 'never' }) }), {
      listType: 'map',
      keys: ['id'],
    }),
  }),
})

const bare = {
  subresource: '' as const,
  now: new Date('2026-01-01T00:00:00.999Z'),
  gvk: { group: 'example.com', version: 'v1', kind: 'Secretive' },
  schema: secretive,
}

describe('write-only fields', () => {
  const spec = {
    name: 'n',
    key: 'K',
    login: { user: 'u', token: 'T' },
    tokens: { a: 'T' },
    secrets: [{ id: '1', value: 'S' }],
  }
  const self = { apiVersion: 'example.com/v1', kind: 'Secretive', metadata: { name: 'n' }, spec }
  const visible = {
    'f:name': {},
    'f:login': { 'f:user': {} },
    'f:secrets': { 'k:{"id":"1"}': { '.': {}, 'f:id': {} } },
  }

  it('have no owner, even if a request claims one', () => {
    const written = updateManagers({ ...bare, live: undefined, updated: self, manager: 'm' })
    const config = serverSideApply({ ...bare, live: undefined, config: self, manager: 'm', force: false })
    const claim = {
      manager: 'm',
      operation: 'Update' as const,
      apiVersion: 'example.com/v1',
      fieldsType: 'FieldsV1' as const,
      fieldsV1: {
        'f:spec': {
          'f:key': {},
          'f:login': { 'f:token': { '.': {}, 'f:x': {} } },
          'f:tokens': { 'f:a': {} },
          'f:secrets': { 'k:{"id":"1"}': { 'f:value': {} } },
        },
      },
    } satisfies ManagedFieldsEntry
    const claimed = updateManagers({
      ...bare,
      live: self,
      updated: {
        ...self,
        metadata: {
          name: 'n',
          managedFields: [claim, { ...claim, manager: 'x', fieldsV1: { 'f:spec': { 'f:name': {} } } }],
        },
      },
      manager: 'y',
    })
    expect(config.metadata.managedFields?.[0]?.fieldsV1).toEqual({ 'f:spec': visible })
    expect(JSON.stringify(written.metadata)).not.toMatch(/f:(key|token|value|a)"/)
    expect(claimed.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['x'])
  })
})

describe('kubectl during its migration from client-side to server-side apply', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
  const clientSide = (spec: JsonObject, text?: string): Operation =>
    updateBy('kubectl-client-side-apply', {
      metadata: { annotations: { [annotation]: text ?? JSON.stringify(whole({ spec })) } },
      spec,
    })
  const annotationOf = (step: Step): string | undefined => step.object?.metadata.annotations?.[annotation]

  it('takes over the fields that it applied, and updates its annotation', () => {
    const step = last(clientSide({ text: 'a', flag: true }), applyBy('kubectl', { spec: { text: '<b>' } }))
    expect(step.object?.spec).toEqual({ text: '<b>', flag: true })
    expect(annotationOf(step)).toBe(
      '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"n"},"spec":{"text":"\\u003cb\\u003e"}}\n',
    )
  })

  it('still conflicts with later changes of others', () => {
    const edited = updateBy('edit', { ...clientSide({ text: 'a', number: 1 }).object, spec: { text: 'x', number: 1 } })
    const script = [clientSide({ text: 'a', number: 1 }), edited]
    expect(last(...script, applyBy('kubectl', { spec: { text: 'b', number: 2 } })).causes).toEqual([
      ['conflict with "edit" using example.com/v1', '.spec.text'],
    ])
  })

  const ofOther = (member: object): string => JSON.stringify({ ...whole({ spec: { text: 'a' } }), ...member })
  it.each(['junk{', '', '[]', '{"kind":"Thing"}', ofOther({ apiVersion: 'v2' }), ofOther({ kind: 'Other' })])(
    'takes no fields from the annotation %j',
    (text) => {
      const step = last(clientSide({ text: 'a' }, text), applyBy('kubectl', { spec: { text: 'b' } }))
      expect(step.error).toContain('conflict with "kubectl-client-side-apply" using example.com/v1: .spec.text')
    },
  )

  it('is the only manager that is migrated', () => {
    const script = [clientSide({ text: 'a' })]
    expect(last(...script, applyBy('other', { spec: { text: 'b' } })).error).toContain('1 conflict')
    const step = last(...script, applyBy('other', { spec: { number: 5 } }))
    expect(annotationOf(step)).toBe(JSON.stringify(whole({ spec: { text: 'a' } })))
  })

  it('drops an annotation that becomes too large', () => {
    const big = applyBy('kubectl', { spec: { text: 'x'.repeat(256 * 1024) } })
    expect(annotationOf(last(clientSide({ text: 'a' }), big))).toBeUndefined()
  })
})

describe('a write that changes only times', () => {
  const entry: ManagedFieldsEntry = { manager: 'm', operation: 'Apply', time: '2020-01-01T00:00:00Z' }
  const self = (managedFields?: ManagedFieldsEntry[], spec = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'K',
    metadata: { name: 'n', ...(managedFields && { managedFields }) },
    spec,
  })

  it('is a no-op', () => {
    expect(sameButForTimes(self([entry]), self([{ ...entry, time: '2021-01-01T00:00:00Z' }]))).toBe(true)
    expect(sameButForTimes(self([entry]), self([{ manager: 'm', operation: 'Apply' }]))).toBe(true)
    expect(sameButForTimes(self(), self([]))).toBe(true)
  })

  it('is not a no-op if anything else differs', () => {
    expect(sameButForTimes(self([entry]), self([{ ...entry, manager: 'o' }]))).toBe(false)
    expect(sameButForTimes(self([entry]), self())).toBe(false)
    expect(sameButForTimes(self([entry]), self([entry], { a: 'b' }))).toBe(false)
  })
})
