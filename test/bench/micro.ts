/** Measures pure functions of the hot path in microseconds per call. */
import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { evaluate } from '../../lib/authorization/scopes/evaluate.ts'
import type { Scope } from '../../lib/authorization/scopes/scope.ts'
import { decodeJson } from '../../lib/meta/decoding/codecs.ts'
import { stringify } from '../../lib/meta/encoding/json.ts'
import { dumpYaml, parseYaml } from '../../lib/meta/encoding/yaml.ts'
import { serverSideApply, updateManagers } from '../../lib/meta/managedfields/fieldmanager.ts'
import { wholeObject } from '../../lib/meta/structuredmerge/typed.ts'
import type { KubeObject } from '../../lib/meta/types.ts'
import { accessKey } from './access.ts'
import { median } from './measure.ts'
import { table } from './print.ts'

const batches = 15
const batchMs = 20

/** Returns the median over batches, so that an interruption of one batch does not count. */
async function microseconds(work: () => unknown): Promise<number> {
  const run = async (count: number): Promise<number> => {
    const began = performance.now()
    for (let index = 0; index < count; index++) {
      const result = work()
      if (result instanceof Promise) await result
    }
    return performance.now() - began
  }
  let count = 16
  while ((await run(count)) < batchMs) count *= 2
  const times: number[] = []
  for (let batch = 0; batch < batches; batch++) times.push(((await run(count)) * 1000) / count)
  return median(times)
}

/** Returns 2 KB of JSON. */
function twoKilobytes(): KubeObject {
  const object = accessKey('micro')
  const annotations = Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [`example.com/annotation-${index}`, 'x'.repeat(120)]),
  )
  return { ...object, metadata: { ...object.metadata, annotations } }
}

const attributes = {
  kind: 'resource',
  target: { type: 'Management' },
  verb: 'get',
  group: 'management.platform',
  resource: 'virtualclusterinstances',
  subresource: '',
  name: 'preview',
  namespace: 'p-web',
} as const

export async function benchMicro(): Promise<void> {
  const { group, version, kind, schema } = OwnedAccessKey
  const write = {
    manager: 'bench',
    subresource: '',
    now: new Date(),
    gvk: { group, version, kind },
    schema: wholeObject(schema),
  } as const
  const object = twoKilobytes()
  const live = updateManagers({ ...write, live: undefined, updated: object })
  const changed = { ...live, spec: { ...live.spec, description: 'another' } }
  const config = { apiVersion: object.apiVersion, kind, metadata: { name: 'micro' }, spec: { ...object.spec } }
  const applied = serverSideApply({ ...write, manager: 'applier', live, config, force: true })
  const json = Buffer.from(stringify(object))
  const yaml = await dumpYaml(JSON.parse(json.toString()))
  const scope: Scope = {
    projects: [{ project: 'payments' }, { project: 'search' }],
    clusters: [{ cluster: 'staging' }],
    roles: [{ role: 'platformCLI', projects: ['payments'] }, { role: 'agent' }],
    virtualClusters: [{ project: 'web', virtualCluster: 'preview' }],
  }
  const options = { projectNamespacePrefix: 'p-' }
  const works: Record<string, () => unknown> = {
    'scope decision: 6 entries, the last allows': () => evaluate([scope], attributes, options),
    'scope decision: chain of 8 scopes': () => evaluate(Array(8).fill(scope), attributes, options),
    'updateManagers: create': () => updateManagers({ ...write, live: undefined, updated: object }),
    'updateManagers: one field changes': () => updateManagers({ ...write, live, updated: changed }),
    'apply: first': () => serverSideApply({ ...write, manager: 'applier', live, config, force: true }),
    'apply: again, nothing changes': () =>
      serverSideApply({ ...write, manager: 'applier', live: applied, config, force: true }),
    'JSON decode': () => decodeJson(json),
    'JSON.parse alone': () => JSON.parse(json.toString()),
    'YAML decode': () => parseYaml(yaml),
  }
  const rows: (string | number)[][] = []
  for (const [name, work] of Object.entries(works)) rows.push([name, await microseconds(work)])
  table(
    `Microbenchmarks: an object of ${json.length} bytes of JSON, ${yaml.length} of YAML; median of ${batches} batches`,
    ['work', 'µs'],
    rows,
  )
}
